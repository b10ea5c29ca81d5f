import { describe, expect, test } from 'vitest';
import { reopenWorkspace } from '../../../../src/adapters/workspace/reopen.ts';
import { type FileState, toCodeChanges } from '../../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../../src/domain/changes/ledger.ts';
import type { PathGuard } from '../../../../src/domain/changes/path-policy.ts';
import type { CaptureScope, Workspace } from '../../../../src/ports/workspace.ts';
import { at, ScratchCheckout } from '../scratch-checkout.ts';

/** The workspace with a ledger that takes everything for the work of calls. */
async function openWithLedger(scratch: ScratchCheckout, guard?: PathGuard) {
  const workspace = await scratch.open(scratch.root, { guard });
  await workspace.capture('all');
  const ledger = new ChangeLedger();
  const source = { by: 'tool' as const, tool: 'run_command', calls: ['call'] };
  return {
    workspace,
    ledger,
    async look(scope: CaptureScope = 'all') {
      const changes = await workspace.capture(scope);
      for (const change of toCodeChanges(changes, source, 1)) ledger.record(change);
      return changes.map(({ path, before, after, ignored }) =>
        [before ? (after ? '~' : '-') : '+', path, ignored ?? ''].join(''),
      );
    },
    patched: async () => (await patchOf(workspace, ledger)).files.map(({ path }) => path),
  };
}

async function patchOf(workspace: Workspace, ledger: ChangeLedger) {
  const made = await workspace.makePatch(ledger.net());
  if (made.status === 'failed') throw new Error(made.message);
  return made.patch;
}

describe('rules of the end', () => {
  test('a file that is no longer ignored is in the patch if the run made it, and otherwise named', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', '*.js\nbuild/\n.env\n');
    scratch.write('.env', 'TOKEN=1\n');
    scratch.write('build/theirs.txt', 'x\n');
    scratch.write('build/changed.txt', 'x\n');
    scratch.write('old.js', 'x\n');
    scratch.commit();
    const run = await openWithLedger(scratch);
    scratch.write('early.js', 'x\n');
    scratch.write('build/changed.txt', 'y\n');
    expect(await run.look()).toEqual([]);
    scratch.write('.gitignore', '*.js\n!early.js\n!keep.js\n');
    scratch.write('keep.js', 'x\n');
    expect(await run.look()).toEqual(['~.gitignore', '+build/changed.txtuntil_now', '+early.js', '+keep.js']);
    expect(await run.patched()).toEqual(['.gitignore', 'build/changed.txt', 'early.js', 'keep.js']);
    expect(run.workspace.notes().exposed).toEqual(['.env', 'build/theirs.txt']);
    scratch.writeInPlace('.env', 'TOKEN=2\n');
    expect(await run.look()).toEqual(['+.envuntil_now']);
    scratch.remove('build/theirs.txt');
    expect(await run.look()).toEqual([]);
    expect(run.workspace.notes().exposed).toEqual([]);
  });

  test('what a command moves to where nothing was is its work, and rules are followed where a folder was or they hid themselves', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', '*.js\nbuild/\nout/\n');
    scratch.write('lib/a.txt', 'a\n');
    scratch.write('out/theirs.txt', 'x\n');
    scratch.write('cache/.gitignore', '*\n');
    scratch.commit();
    const run = await openWithLedger(scratch);
    scratch.write('sub/.gitignore/.gitignore', '*\n');
    scratch.write('other/.gitignore/x', 'x\n');
    scratch.remove('cache');
    scratch.write('cache/made.txt', 'x\n');
    expect(await run.look()).toEqual(['+cache/made.txt', '+other/.gitignore/x']);
    for (const folder of ['sub', 'other']) {
      scratch.remove(`${folder}/.gitignore`);
      scratch.write(`${folder}/.gitignore`, '!keep.js\n*.txt\n');
      scratch.write(`${folder}/keep.js`, 'x\n');
      scratch.write(`${folder}/hidden.txt`, 'x\n');
    }
    scratch.move('lib', 'build');
    scratch.write('.gitignore', '*.js\n');
    await run.look();
    const made = ['cache/made.txt', 'other/.gitignore', 'other/keep.js', 'sub/.gitignore', 'sub/keep.js'];
    expect(await run.patched()).toEqual(['.gitignore', 'build/a.txt', ...made]);
    expect(run.workspace.notes().exposed).toEqual(['out/theirs.txt']);
  });

  test('listing and searching follow the rules of the moment', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', '*.log\n');
    scratch.write('a.log', 'word\n');
    scratch.write('a.txt', 'word\n');
    scratch.commit();
    const { workspace } = await openWithLedger(scratch);
    const list = async (path = '') => {
      const listed = await workspace.listFiles(at(path), null);
      return listed.status === 'ok' ? listed.paths : listed.message;
    };
    scratch.write('sub/b.log', 'word\n');
    scratch.write('sub/b.txt', 'word\n');
    expect(await list()).toEqual(['.gitignore', 'a.txt', 'sub/b.txt']);
    scratch.write('.gitignore', '*.txt\n');
    expect(await list('sub')).toEqual(['sub/b.log']);
    expect(await list()).toEqual(['.gitignore', 'a.log', 'a.txt', 'sub/b.log']);
    scratch.write('sub/.gitignore', '*\n');
    expect(await list()).toEqual(['.gitignore', 'a.log', 'a.txt']);
    scratch.remove('.gitignore');
    scratch.remove('sub/.gitignore');
    expect(await list('sub')).toEqual(['sub/b.log', 'sub/b.txt']);
    const found = await workspace.search({
      pattern: 'word',
      path: at(''),
      glob: '*.log',
      maxMatches: 10,
      signal: new AbortController().signal,
    });
    expect(found.status === 'ok' && found.matches.map(({ path }) => path)).toEqual(['a.log', 'sub/b.log']);
    expect(await workspace.writeFile(at('c.log'), Buffer.from('x'))).toMatchObject({ ignored: false });
    scratch.write('.gitignore', '*.log\n');
    expect(await workspace.writeFile(at('d.log'), Buffer.from('x'))).toMatchObject({ ignored: true });
  });
});

test('a run that continues in another process finds everything as it was left', async () => {
  const scratch = new ScratchCheckout();
  scratch.write('.gitignore', '*.js\n.env\n');
  scratch.write('.env', 'TOKEN=1\n');
  scratch.commit();
  const run = await openWithLedger(scratch);
  scratch.write('made.txt', 'x\r\n');
  scratch.write('late.log', 'x\n');
  await run.look();
  scratch.write('.gitignore', '*.log\n');
  scratch.write('.gitattributes', '*.txt text\n');
  scratch.write('keep.js', 'x\n');
  await run.look();
  const states = new Map<string, FileState | null>();
  for (const { path, after, ignored } of run.ledger.history) {
    if (ignored === 'from_now') states.delete(path);
    else states.set(path, after);
  }
  const places = {
    shadowDir: scratch.shadow,
    sandboxGitDir: `${scratch.shadow}/../again.git`,
    env: scratch.env,
  };
  const kept = { base: run.workspace.base(), states, written: [], newGitDirs: null };
  const again = await reopenWorkspace(await scratch.checkout(), places, kept);
  if (again.status === 'failed') throw new Error(again.message);
  expect(again.found).toEqual([]);
  expect(again.workspace.notes().exposed).toEqual(['.env']);
  scratch.writeInPlace('late.log', 'y\n');
  scratch.writeInPlace('.gitignore', '*.js\n');
  const now = (await again.workspace.capture('all')).map(({ path, ignored }) => [path, ignored ?? '']);
  expect(now).toEqual([
    ['.gitignore', ''],
    ['keep.js', 'from_now'],
    ['late.log', ''],
  ]);
});
