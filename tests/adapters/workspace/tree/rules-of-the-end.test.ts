import { utimesSync } from 'node:fs';
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

/** The files of a tree of the run, as `git ls-tree` names them. */
function filesOf(scratch: ScratchCheckout, tree: string): string[] {
  return scratch.gitIn(scratch.root, `--git-dir=${scratch.shadow}`, 'ls-tree', '-r', tree).split('\n');
}

/** Those of the tree that git makes of the work tree as it is; the run is over then. */
function filesGitAdds(scratch: ScratchCheckout): string[] {
  scratch.git('add', '--all');
  return scratch.git('ls-tree', '-r', scratch.git('write-tree').trim()).split('\n');
}

describe('rules of the end', () => {
  test('a file that the change itself ignores is named, but not in the patch', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.commit();
    const run = await openWithLedger(scratch);
    scratch.write('out/made.js', 'x\n');
    scratch.write('late.log', 'x\n');
    expect(await run.look()).toEqual(['+late.log', '+out/made.js']);
    scratch.write('.gitignore', 'out/\n*.log\n');
    scratch.write('out/more.js', 'x\n');
    expect(await run.look()).toEqual(['+.gitignore', '~late.logfrom_now', '~out/made.jsfrom_now']);
    expect(await run.patched()).toEqual(['.gitignore']);
    expect(run.ledger.hidden()).toEqual(['late.log', 'out/made.js']);
    scratch.write('.gitignore', 'out/\n');
    expect(await run.look()).toEqual(['~.gitignore', '+late.log']);
    expect(await run.patched()).toEqual(['.gitignore', 'late.log']);
    expect(await run.look()).toEqual([]);
  });

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

  test('the patch uses the encoding and line endings that the run sets for files, as git adds them', async () => {
    const scratch = new ScratchCheckout();
    const latin = Buffer.from('\xe4\r\n', 'latin1');
    const wide = Buffer.from('\ufeffwide\r\n', 'utf16le');
    scratch.write('.gitattributes', '*.was working-tree-encoding=ISO-8859-1 text\n');
    for (const name of ['a.now', 'a.was', 'kept.was']) scratch.write(name, latin);
    scratch.write('kept.now', 'kept\n');
    // Git looks anew at what is as young as its index.
    for (const name of ['kept.was', 'kept.now']) utimesSync(scratch.path(name), 1e9, 1e9);
    scratch.commit();
    const run = await openWithLedger(scratch);
    for (const name of ['a.now', 'a.was', 'new.now', 'new.was'])
      scratch.write(name, Buffer.concat([latin, latin]));
    scratch.write('a.wide', wide);
    scratch.write('d/a.crlf', 'x\r\n');
    await run.look();
    const encoding = 'working-tree-encoding';
    scratch.write('.gitattributes', `*.now ${encoding}=ISO-8859-1 text\n*.wide ${encoding}=UTF-16 text\n`);
    scratch.write('d/.gitattributes', '*.crlf eol=crlf\n');
    await run.look();
    const { tree } = await patchOf(run.workspace, run.ledger);
    expect(filesOf(scratch, tree)).toEqual(filesGitAdds(scratch));
    const text = (path: string) =>
      scratch.gitIn(scratch.root, `--git-dir=${scratch.shadow}`, 'show', `${tree}:${path}`);
    expect([text('a.now'), text('a.wide'), text('d/a.crlf')]).toEqual([
      '\xc3\xa4\n\xc3\xa4\n',
      'wide\n',
      'x\n',
    ]);
    expect(text('a.was')).toBe('\xe4\r\n\xe4\r\n');
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
