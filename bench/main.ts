/**
 * `npm run bench`: measures the built product against the floor, interleaved, prints medians and ratios, and writes them
 * to docs/performance.md. `--quick` leaves out large trees and long scripts; `--only NAME` measures one scenario and
 * `--rounds N` says how often; none of them writes the page.
 */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms } from './clients.ts';
import { lineOf, machineLine, tableOf, withTable } from './report.ts';
import { makeRepository } from './repositories.ts';
import { forkApiServer } from './run-client.ts';
import { type Row, SCENARIOS, SLOW } from './scenarios.ts';

const PAGE = join(import.meta.dirname, '..', 'docs', 'performance.md');

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean' },
    only: { type: 'string', multiple: true },
    rounds: { type: 'string' },
  },
});
const names = Object.keys(SCENARIOS).filter((name) =>
  values.only ? values.only.includes(name) : !(values.quick && SLOW.has(name)),
);
const roots = new Map<number, string>();
const programs = await buildPrograms();
const server = forkApiServer(programs.apiServer);
const machine = machineLine(new Date());
process.stdout.write(`${machine}\n`);
try {
  const rows: Row[] = [];
  for (const name of names) {
    const made = await SCENARIOS[name]?.({
      programs,
      server,
      rounds: Number(values.rounds ?? (values.quick ? 5 : 15)),
      repository,
    });
    for (const row of made ?? []) process.stdout.write(`${lineOf(row)}\n`);
    rows.push(...(made ?? []));
  }
  const isWhole = !values.quick && !values.only && !values.rounds;
  if (isWhole) writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), `${machine}\n\n${tableOf(rows)}`));
} finally {
  server.close();
  for (const root of roots.values()) rmSync(root, { recursive: true, force: true });
}

function repository(files: number): string {
  const root = roots.get(files) ?? makeRepository(files);
  roots.set(files, root);
  return root;
}
