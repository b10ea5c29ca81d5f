/** The step before tests and demo, on machines made of stand-ins for their programs. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempFolder } from './support/files/temp-folder.ts';

const REAL = ['sh', 'mktemp', 'rm', 'tail', 'cat', 'ls', 'env', 'chmod', 'true'];

interface Machine {
  readonly bwrap: 'missing' | 'works' | 'is refused';
  readonly user?: number;
  readonly sudo?: boolean;
  readonly restricted?: boolean;
}

/** What the step did on such a machine: the commands that change something, and what it said. */
function stepOn({ bwrap, user = 0, sudo = false, restricted = false }: Machine, ci: boolean, args = '') {
  const folder = tempFolder();
  const bin = (name: string) => join(folder, name);
  const program = (name: string, script: string) => {
    writeFileSync(bin(name), `#!/bin/sh\n${script}\n`);
    chmodSync(bin(name), 0o755);
  };
  for (const name of REAL) symlinkSync(execFileSync('which', [name], { encoding: 'utf8' }).trim(), bin(name));
  const record = `echo "$(basename "$0") $*" >> ${folder}/done`;
  symlinkSync(execFileSync('which', ['basename'], { encoding: 'utf8' }).trim(), bin('basename'));
  program('id', `echo ${user}`);
  program('sudo', `echo sudo >> ${folder}/done; ${sudo ? 'exec "$@"' : 'exit 1'}`);
  program('sysctl', `echo ${restricted ? 1 : 0}`);
  program(
    'apt-get',
    `${record}; [ "$1" != install ] || { echo 'exit 0' > ${bin('bwrap')}; chmod +x ${bin('bwrap')}; }`,
  );
  program('tee', `${record}; cat`);
  program('apparmor_parser', record);
  if (bwrap !== 'missing') program('bwrap', `exit ${bwrap === 'works' ? 0 : 1}`);
  const said = execFileSync('sh', ['-c', `exec sh scripts/install-bubblewrap.sh ${args} 2>&1`], {
    env: { PATH: folder, ...(ci ? { CI: 'true' } : {}) },
    encoding: 'utf8',
  });
  const done = existsSync(bin('done')) ? readFileSync(bin('done'), 'utf8').trim().split('\n') : [];
  return { done, said };
}

const INSTALLED = ['apt-get update -q', 'apt-get install -y -q --no-install-recommends bubblewrap'];

test('bubblewrap is installed where it is missing, as root and with --sudo', () => {
  const said = 'Installing with apt-get: bubblewrap\n';
  expect(stepOn({ bwrap: 'missing' }, false)).toEqual({ done: INSTALLED, said });
  expect(stepOn({ bwrap: 'missing', user: 1000, sudo: true }, false, '--sudo')).toEqual({
    done: INSTALLED.flatMap((line) => ['sudo', line]),
    said: said.replace('apt-get', 'sudo apt-get'),
  });
  expect(stepOn({ bwrap: 'works' }, true)).toEqual({ done: [], said: '' });
});

test('without root it says what to type, and does not try sudo', () => {
  const said = 'Missing: sudo apt-get install -y bubblewrap (or the equivalent on your system).\n';
  for (const ci of [true, false])
    expect(stepOn({ bwrap: 'missing', user: 1000, sudo: true }, ci)).toEqual({ done: [], said });
  const refused = stepOn({ bwrap: 'missing', user: 1000 }, true, '--sudo');
  expect(refused).toEqual({
    done: ['sudo'],
    said: `Installing with sudo apt-get: bubblewrap\n${said}`,
  });
});

test('loads an AppArmor profile for bubblewrap in CI, and nowhere else', () => {
  const machine = { bwrap: 'is refused', user: 1001, sudo: true, restricted: true } as const;
  const { done, said } = stepOn(machine, true, '--sudo');
  expect(done.filter((line) => line !== 'sudo')).toEqual([
    'tee /etc/apparmor.d/bwrap',
    'apparmor_parser -r /etc/apparmor.d/bwrap',
  ]);
  expect(said).toBe(
    'Loading an AppArmor profile that lets /usr/bin/bwrap create namespaces: /etc/apparmor.d/bwrap\n',
  );
  const advice =
    'AppArmor does not let bubblewrap create namespaces: patchsmith doctor says how to fix it.\n';
  expect(stepOn(machine, true)).toEqual({ done: [], said: advice });
  expect(stepOn(machine, false, '--sudo')).toEqual({ done: [], said: advice });
  expect(stepOn({ ...machine, restricted: false }, true, '--sudo')).toEqual({ done: [], said: '' });
});
