/** What a user without privileges closes (chmod 000) stays within the runner's sight: it opens it again as its owner. */

import { chmodSync, chownSync, existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { cliAsNobody, isRoot, runAsNobody } from '../../support/runs/as-nobody.ts';
import { command, done } from '../../support/runs/scripted-run.ts';
import { until } from '../../support/waiting/until.ts';

/** Each changes `$f` in the folder `$d` of `$p`, which may not change, and closes something. */
const CLOSINGS: Readonly<Record<string, readonly string[]>> = {
  folder: ['echo x >> $f; chmod 000 $d'],
  parent: ['echo x >> $f; chmod 000 $p'],
  file: ['echo x >> $f; chmod 000 $f'],
  all: ['echo x >> $f; chmod 000 $f $d $p'],
  deleted: ['rm $f; chmod 000 $d'],
  'deleted-parent': ['rm -r $d; chmod 000 $p'],
  new: ['echo x > $d/new; chmod 000 $d'],
  'new-closed-file': ['echo x > $d/new; chmod 000 $d/new $d'],
  link: ['ln -sf /etc/passwd $f; chmod 000 $d'],
  'next-command': ['chmod 000 $d', 'chmod 755 $d; echo x >> $f; chmod 000 $d'],
  'not-to-be-written': ['echo x >> $f; chmod 0555 $d $p'],
  ...Object.fromEntries(
    [0o444, 0o111, 0o311, 0o300, 0o200, 0o100, 0o600, 0o077].flatMap((mode) => {
      const digits = mode.toString(8).padStart(4, '0');
      return [
        [`folder-${digits}`, [`echo x >> $f; chmod ${digits} $d`]],
        [`parent-${digits}`, [`echo x >> $f; chmod ${digits} $p`]],
      ];
    }),
  ),
  'file-0200': ['echo x >> $f; chmod 0200 $f'],
  'file-0111': ['echo x >> $f; chmod 0111 $f'],
};

/** The commands of one closing, on files of its own. */
function commandsOf(name: string): string[] {
  return (CLOSINGS[name] ?? []).map(
    (line) => `p=kept/${name}; d=$p/deep; f=$d/t.txt; ${line.replace(/;? *$/, '')}; true`,
  );
}

const ORIGINAL = 'as it was\n';

describe.runIf(isRoot)('a user without privileges', () => {
  test.each(['required', 'off'])(
    'hides no change of a protected file by closing what it lies in (--sandbox %s)',
    async (sandbox) => {
      const names = Object.keys(CLOSINGS);
      const repository = await makeRepository({
        'src/a.txt': 'a\n',
        ...Object.fromEntries(names.map((name) => [`kept/${name}/deep/t.txt`, ORIGINAL])),
      });
      const run = await runAsNobody(repository, {
        args: ['--sandbox', sandbox, '--protect', 'kept', '--max-iterations', '100'],
        turns: [...names.flatMap((name) => commandsOf(name).map(command)), done],
      });
      expect([run.exitCode, run.result.outcome], run.stderr).toEqual([0, 'no_change']);
      const contents = names.map((name) => {
        const file = join(repository.root, 'kept', name, 'deep/t.txt');
        return [name, lstatSync(file).isFile() ? readFileSync(file, 'utf8') : 'no file'];
      });
      expect(contents).toEqual(names.map((name) => [name, ORIGINAL]));
      expect(existsSync(join(repository.root, 'kept/new/deep/new'))).toBe(false);
      const folders = new Set(run.result.putBack.map(({ path }) => path.split('/')[1]));
      expect(names.filter((name) => !folders.has(name))).toEqual([]);
      expect(run.result.warnings.join('\n')).toMatch(
        /"kept\/folder\/deep" was closed \(mode 0000\).*opened again \(mode 0700\)/,
      );
    },
  );

  test('a closed protected file is reverted before verify commands could open it', async () => {
    const repository = await makeRepository({ 'src/a.txt': 'a\n', 'tests/t.txt': ORIGINAL });
    const run = await runAsNobody(repository, {
      plan: `---\nprotect: ["tests/**"]\nverify:\n  - chmod 755 tests && grep -qx '${ORIGINAL.trim()}' tests/t.txt\n---\nDo it.\n`,
      args: ['--sandbox', 'required'],
      turns: [command('echo tampered > tests/t.txt; chmod 000 tests'), done],
    });
    expect([run.exitCode, run.result.verify.map(({ end }) => end.exitCode)], run.stderr).toEqual([0, [0]]);
    expect(readFileSync(join(repository.root, 'tests/t.txt'), 'utf8')).toBe(ORIGINAL);
  });

  test('has a run undone whose folders are closed by then', async () => {
    const repository = await makeRepository({ 'src/a.txt': ORIGINAL, 'src/gone/b.txt': ORIGINAL });
    const run = await runAsNobody(repository, {
      args: ['--sandbox', 'required'],
      turns: [
        command('echo x >> src/a.txt; rm -r src/gone; mkdir -p new/deep; echo n > new/deep/n.txt'),
        done,
      ],
    });
    expect(run.exitCode, run.stderr).toBe(0);
    const at = (path: string) => join(repository.root, path);
    for (const path of ['src/a.txt', 'src', 'new/deep', 'new']) chmodSync(at(path), 0o000);
    const { exitCode, stderr } = await cliAsNobody(['undo', run.runDir, '--force'], repository.root);
    expect([exitCode, existsSync(at('new/deep/n.txt'))], stderr).toEqual([0, false]);
    expect(readFileSync(at('src/a.txt'), 'utf8'), stderr).toBe(ORIGINAL);
    expect(readFileSync(at('src/gone/b.txt'), 'utf8')).toBe(ORIGINAL);
    expect(stderr).toContain('3 files restored');
    expect(stderr).toContain('"src" was closed (mode 0000)');
  });

  test('what verify commands close and change is seen as well', async () => {
    const repository = await makeRepository({ 'tests/t.txt': ORIGINAL });
    const run = await runAsNobody(repository, {
      plan: '---\nprotect: ["tests/**"]\nverify:\n  - echo tampered > tests/t.txt; chmod 000 tests\n---\nDo it.\n',
      args: ['--sandbox', 'required'],
      turns: [done],
    });
    expect([run.exitCode, run.result.putBack], run.stderr).toEqual([
      0,
      [{ path: 'tests/t.txt', by: 'verify' }],
    ]);
    expect(readFileSync(join(repository.root, 'tests/t.txt'), 'utf8')).toBe(ORIGINAL);
  });

  test('gets closed files into the patch, and continues after the root of the work tree was closed', async () => {
    const repository = await makeRepository({ 'src/a.txt': 'a\n', 'b.txt': 'b\n' });
    const run = await runAsNobody(repository, {
      args: ['--sandbox', 'required'],
      turns: [
        command('echo new > src/new.txt; echo x >> src/a.txt; chmod 000 src/new.txt src'),
        command('echo y >> b.txt; chmod 000 .'),
        command('cat src/new.txt b.txt'),
        done,
      ],
    });
    expect([run.exitCode, run.result.changedFiles.map(({ path }) => path)], run.stderr).toEqual([
      0,
      ['b.txt', 'src/a.txt', 'src/new.txt'],
    ]);
    expect(run.stderr).toContain('The root of the work tree was closed (mode 0000)');
  });

  test('that cannot open again what was there ends with exit 8, protected or not, and names it', async () => {
    const repository = await makeRepository({ 'src/a.txt': 'a\n', 'tests/t.txt': ORIGINAL, 'b.txt': 'b\n' });
    const at = (path: string) => join(repository.root, path);
    const run = await runAsNobody(repository, {
      args: ['--sandbox', 'off', '--protect', 'tests'],
      turns: [
        command('echo x >> b.txt; : > ready.log; until [ -e go.log ]; do sleep 0.01; done; rm *.log'),
        done,
      ],
      // As another user of the machine would, or a user namespace with more than one user.
      async during() {
        await until('the command runs', () => existsSync(at('ready.log')));
        for (const folder of ['src', 'tests']) {
          writeFileSync(at(`${folder}/${folder === 'src' ? 'a' : 't'}.txt`), 'tampered\n');
          chownSync(at(folder), 0, 0);
          chmodSync(at(folder), 0o700);
        }
        writeFileSync(at('go.log'), '');
      },
    });
    expect([run.exitCode, run.result.outcome], run.stderr).toEqual([8, 'policy_violation']);
    expect(run.result.reason).toContain('may have changed: src/a.txt, tests/t.txt.');
    expect(run.result.changedFiles.map(({ path }) => path)).toEqual(['b.txt']);
  });

  test('finds a file that was closed before the run as it was, named in a warning', async () => {
    const repository = await makeRepository({ 'src/a.txt': 'a\n' });
    repository.write('own.txt', 'data\n');
    chmodSync(join(repository.root, 'own.txt'), 0o000);
    const run = await runAsNobody(repository, {
      args: ['--sandbox', 'required'],
      turns: [command('echo b >> src/a.txt'), command('echo c >> src/a.txt'), done],
    });
    expect([run.exitCode, run.result.changedFiles.map(({ path }) => path)], run.stderr).toEqual([
      0,
      ['src/a.txt'],
    ]);
    expect(run.stderr).toContain('"own.txt" cannot be read');
    expect(lstatSync(join(repository.root, 'own.txt')).mode & 0o777).toBe(0);
  });
});
