/** The rows as text. */

import { cpus, release, totalmem } from 'node:os';
import type { Row } from './scenarios.ts';

/** A line for the terminal. */
export function lineOf(row: Row): string {
  const { aim } = row;
  const verdict = aim === null ? '' : `  ${figureOf(aim)}  ${isMet(row) ? 'met' : 'MISSED'}`;
  return `${row.what}: ${[amount(row, row.product), `floor ${amount(row, row.floor)}`, `bundled ${amount(row, row.bundled)}`].join(' · ')}${verdict}`;
}

/** Date, processor, memory, kernel and node of this machine, on one line. */
export function machineLine(now: Date): string {
  const processors = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  return `${now.toISOString().slice(0, 10)} · ${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'} · ${memory} · Linux ${release()} · node ${process.version}`;
}

function isMet({ aim }: Row): boolean {
  return aim !== null && aim.figure <= aim.atMost;
}

function figureOf({ figure, atMost, as }: NonNullable<Row['aim']>): string {
  return `${figure.toFixed(figure < 10 ? 2 : 0)} ${as} (≤ ${atMost})`;
}

function amount({ unit }: Row, value: number | null): string {
  if (value === null) return '–';
  const digits = unit === 'requests' ? 0 : unit === 'USD' ? 4 : value < 10 ? 2 : value < 100 ? 1 : 0;
  return `${value.toFixed(digits)} ${unit}`;
}
