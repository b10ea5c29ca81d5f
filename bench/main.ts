/**
 * `npm run bench`: measures the built product against the floor, interleaved, and prints medians and ratios. `--quick` leaves
 * out large trees and long scripts; `--only NAME` measures one scenario, and `--rounds N` says how often.
 */

import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildPrograms } from './clients.ts';
import { lineOf, machineLine } from './report.ts';
import { makeRepository } from './repositories.ts';
import { forkApiServer } from './run-client.ts';
import { SCENARIOS, SLOW } from './scenarios.ts';

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
process.stdout.write(`${machineLine(new Date())}\n`);
try {
  for (const name of names) {
    const made = await SCENARIOS[name]?.({
      programs,
      server,
      rounds: Number(values.rounds ?? (values.quick ? 5 : 15)),
      repository,
    });
    for (const row of made ?? []) process.stdout.write(`${lineOf(row)}\n`);
  }
} finally {
  server.close();
  for (const root of roots.values()) rmSync(root, { recursive: true, force: true });
}

function repository(files: number): string {
  const root = roots.get(files) ?? makeRepository(files);
  roots.set(files, root);
  return root;
}
