import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { beginWorkspace } from '../../../../src/adapters/workspace/open.ts';
import type { RepoPath } from '../../../../src/domain/changes/path.ts';
import { ScratchCheckout } from '../scratch-checkout.ts';

/** Deep ones first, so that what is above them is not known yet. */
const FOLDERS = ['src/deep', 'out/kept', 'left', 'new', 'hidden', 'out', 'src', ''] as RepoPath[];

/** Rules above, below and beside what they are about, and files that are in whatever the rules say. */
function withRules(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('.gitignore', '*.log\n/out/*\n!/out/kept\n/hidden/\n');
  scratch.write('src/.gitignore', '!keep.log\ndeep/*.tmp\n');
  scratch.write('src/a.ts', 'a\n');
  scratch.write('out/tracked.txt', 'tracked\n');
  scratch.write('left/.gitignore', '*.bin\n');
  scratch.git('add', '--all', '--force');
  scratch.commit();
  // Git reads it from the index, as in a sparse checkout.
  scratch.git('update-index', '--skip-worktree', 'left/.gitignore');
  rmSync(scratch.path('left/.gitignore'));
  for (const path of ['src/keep.log', 'src/no.log', 'src/deep/x.tmp', 'src/deep/y.ts', 'out/gone.txt'])
    scratch.write(path, `${path}\n`);
  for (const path of ['out/kept/z.txt', 'hidden/h.txt', 'new/n.ts', 'left/l.bin', 'left/l.txt', 'top.log'])
    scratch.write(path, `${path}\n`);
  scratch.write('excluded.txt', 'x\n');
  mkdirSync(scratch.path('.git/info'), { recursive: true });
  scratch.write('.git/info/exclude', 'excluded.txt\n');
  return scratch;
}

test('listing and searching while the baseline is taken gives the same results as afterwards, and does not change it', async () => {
  const scratch = withRules();
  const expected = (await scratch.open()).base();
  const places = {
    shadowDir: join(scratch.folder, 'shadow.git'),
    sandboxGitDir: join(scratch.folder, 'agent.git'),
  };
  const begun = beginWorkspace(await scratch.checkout(), { ...places, env: scratch.env, manyFiles: 0 });
  const workspace = await begun.takeMeanwhile();
  const look = () =>
    Promise.all([
      workspace.readFile('src/a.ts' as RepoPath),
      ...FOLDERS.map((folder) => workspace.listFiles(folder, null)),
      workspace.listFiles('src/no.log' as RepoPath, null),
      workspace.listFiles('missing' as RepoPath, null),
      workspace.listFiles('' as RepoPath, '*.txt'),
      workspace.search({
        pattern: '.',
        path: '' as RepoPath,
        glob: '*.txt',
        maxMatches: 100,
        signal: new AbortController().signal,
      }),
    ]);
  // All of these begin before the baseline can be there.
  const early = await look();
  expect('tree' in workspace.base()).toBe(false);
  const { base } = await workspace.baseline();
  expect(early).toEqual(await look());
  expect(base).toEqual(expected);
  expect(workspace.base()).toEqual(expected);
  expect(early[FOLDERS.length]).toMatchObject({
    paths: expect.arrayContaining(['left/l.txt', 'out/kept/z.txt', 'out/tracked.txt', 'src/keep.log']),
  });
});

test('what changes the tree waits for the baseline, also when no one has asked for it', async () => {
  const scratch = withRules();
  const expected = (await scratch.open()).base();
  const places = {
    shadowDir: join(scratch.folder, 'shadow.git'),
    sandboxGitDir: join(scratch.folder, 'agent.git'),
  };
  const begun = beginWorkspace(await scratch.checkout(), { ...places, env: scratch.env, manyFiles: 0 });
  const workspace = await begun.takeMeanwhile();
  const bytes = Buffer.from('*\n');
  for (const path of ['.gitignore', 'new/n.ts', 'src/.gitattributes'] as RepoPath[])
    expect(await workspace.writeFile(path, bytes)).toMatchObject({ status: 'ok' });
  expect((await workspace.baseline()).base).toEqual(expected);
  const changed = (await workspace.capture('all')).map(({ path }) => path);
  expect(changed).toEqual(expect.arrayContaining(['.gitignore', 'new/n.ts']));
});
