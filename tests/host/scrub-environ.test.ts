/** What is left of a process' first environment once it has been wiped. */

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROJECT = join(import.meta.dirname, '../..');
const SOURCE = JSON.stringify(join(PROJECT, 'src/host/scrub-environ.ts'));

/** A process that wipes every variable whose name ends in KEY, and says what it then sees. */
function wipe(env: Record<string, string>) {
  const program = `
    import { readFileSync } from 'node:fs';
    import { scrubEnviron } from ${SOURCE};
    const clean = scrubEnviron(Object.keys(process.env).filter((name) => name.endsWith('KEY')));
    const block = readFileSync('/proc/self/environ', 'utf8').split('\\0').filter((line) => /KEY|OTHER/.test(line));
    console.log(JSON.stringify({ clean, block: block.sort() }));`;
  const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
  return JSON.parse(execFileSync(process.execPath, args, { env, cwd: PROJECT, encoding: 'utf8' }));
}

test('values of secrets are overwritten, and nothing else', () => {
  const env = { OTHER: 'KEY=kept', A_KEY: 'sécret=with=equals', B_KEY: '', KEY: 'x\ny', OTHER_2: 'A_KEY' };
  expect(wipe(env)).toEqual({
    clean: true,
    block: ['A_KEY=*******************', 'B_KEY=', 'KEY=***', 'OTHER=KEY=kept', 'OTHER_2=A_KEY'],
  });
});

test('an environment without secrets is left alone', () => {
  expect(wipe({ OTHER: '1' })).toEqual({ clean: true, block: ['OTHER=1'] });
});
