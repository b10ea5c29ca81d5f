import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readIfThere } from '../../support/machine/processes.ts';
import { until } from '../../support/waiting/until.ts';
import { makePlace, open } from './fixture.ts';

test('variables of one command are on no command line of the machine, and in no other command', async () => {
  const { root, sandbox, text } = await open(makePlace(), 'required');
  const value = `a-value-"with' $signs"-${process.pid}`;
  const running = sandbox.run({
    script: 'printf %s "$OWN" > own; until [ -e go-on ]; do sleep 0.05; done',
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    env: { OWN: value, EMPTY: '' },
  });
  await until('the command runs', () => existsSync(join(root, 'own')));
  const lines = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readIfThere(`/proc/${pid}/cmdline`));
  expect(lines.filter((line) => line.includes(value))).toEqual([]);
  expect(await text('cat own; env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"')).toMatch(/^a-value/);
  expect(await text('env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"')).not.toContain('a-value');
  writeFileSync(join(root, 'go-on'), '');
  expect((await running).end.exitCode).toBe(0);
});
