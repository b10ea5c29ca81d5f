/** One line at the end of a terminal that says what is in progress, while printed lines scroll by above it. */

import truncate from 'cli-truncate';
import width from 'string-width';
import type { RunState } from '../../../domain/run/state.ts';
import { withinLine } from '../../../domain/text/terminal.ts';
import type { Terminal } from '../../../ports.ts';
import type { Doing } from './under-way.ts';

/** The state of a run in numbers. */
export type Standing = Pick<RunState, 'iterations' | 'limits' | 'startedAt' | 'costUsd' | 'isEstimated'>;

/** What the line shows. Secrets are redacted; other text may be anything. */
export interface Moment {
  /** Null before the work has begun. */
  readonly standing: Standing | null;
  readonly now: number;
  readonly doing: readonly Doing[];
}

/** Milliseconds within which changes are painted together. */
const TOGETHER_MS = 100;

/**
 * The cursor rests at the beginning of the line: whatever is printed next, also by others or after the end of the process,
 * overwrites it. Loaded only on a terminal.
 */
export class StatusLine {
  readonly #terminal: Terminal;
  readonly #lineNow: () => string;
  #soon: NodeJS.Timeout | null = null;

  /** `dim` makes a text less prominent, or leaves it as it is. */
  constructor(terminal: Terminal, dim: (text: string) => string, moment: () => Moment) {
    this.#terminal = terminal;
    this.#lineNow = () => dim(statusLine(moment(), terminal.size().columns - 1));
  }

  /** Prints lines for good, above the status. */
  print(text: string): void {
    this.#terminal.write(`\r\u001b[J${text}\n${this.#lineNow()}\r`);
  }

  /** Paints the current state, unless the terminal has not yet accepted the last one. */
  paint(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#soon = null;
    if (!this.#terminal.isBehind()) this.#terminal.write(`\r\u001b[J${this.#lineNow()}\r`);
  }

  /** Schedules one repaint for all changes until then. */
  paintSoon(): void {
    this.#soon ??= setTimeout(() => this.paint(), TOGETHER_MS).unref();
  }

  /** Clears the line. Call once. */
  end(): void {
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#terminal.write('\r\u001b[J');
  }
}

/** `[3 of 25] 2:05 of 30:00 · $0.12 of $2.00 · run_command npm test · 12 s of 60 s`, at most so wide: the label is cut. */
export function statusLine({ standing, now, doing: [first, ...others] }: Moment, columns: number): string {
  const state = standing === null ? '' : `${standingIn(standing, now)}${first ? ' · ' : ''}`;
  if (first === undefined) return truncate(state, columns);
  const { label, forMs, timeoutMs, detail } = first;
  const time = `${seconds(forMs)}${timeoutMs === null ? '' : ` of ${seconds(timeoutMs)}`}`;
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  const end = ` · ${time}${detail === '' ? '' : ` · ${detail}`}${more}`;
  // The width of a tab depends on the terminal.
  const name = withinLine(label).replaceAll('\t', ' ');
  const room = Math.max(8, columns - width(state) - width(end));
  return truncate(`${state}${truncate(name, room)}${end}`, columns);
}

function standingIn({ iterations, limits, startedAt, costUsd, isEstimated }: Standing, now: number): string {
  const { maxIterations, maxCostUsd, deadlineMs } = limits;
  const cap = maxCostUsd === null ? '' : ` of $${maxCostUsd.toFixed(2)}`;
  const cost = costUsd === null ? 'cost unknown' : `${isEstimated ? '~' : ''}$${costUsd.toFixed(2)}${cap}`;
  return `[${iterations} of ${maxIterations}] ${clockTime(now - startedAt)} of ${clockTime(deadlineMs)} · ${cost}`;
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1_000)} s`;
}

/** `2:05`, `1:02:05`. */
function clockTime(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
