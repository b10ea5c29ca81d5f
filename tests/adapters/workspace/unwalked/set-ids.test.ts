import { chmodSync, lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reopenWorkspace } from '../../../../src/adapters/workspace/reopen.ts';
import { SetIds } from '../../../../src/adapters/workspace/unwalked/set-ids.ts';
import { clearSetIdsOf } from '../../../../src/adapters/workspace/unwalked/unseen-changes.ts';
import { fileStat } from '../../../../src/files/stat.ts';
import { TreeView } from '../../../../src/files/tree-view.ts';
import type { Workspace } from '../../../../src/ports/workspace.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { ScratchCheckout } from '../scratch-checkout.ts';

/** A checkout with a file that git knows, an ignored folder, and a repository of its own. */
function prepared(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('.gitignore', 'build/\n*.log\n');
  scratch.write('src/known', 'known\n', 0o755);
  scratch.write('build/deep/tool', 'tool\n', 0o755);
  scratch.commit();
  scratch.write('other/inside', 'inside\n', 0o755);
  scratch.gitIn(join(scratch.root, 'other'), 'init', '--quiet');
  return scratch;
}

const modes = (scratch: ScratchCheckout, ...paths: string[]) =>
  paths.map((path) => (lstatSync(scratch.path(path)).mode & 0o7777).toString(8));

/** What the runner does after the last command. */
async function looked(workspace: Workspace): Promise<string[]> {
  await workspace.capture('after_commands');
  await workspace.ignoredWrites();
  await workspace.nestedChanges();
  return workspace.notes().warnings.filter((text) => text.includes('set-uid'));
}

describe('a run', () => {
  test('takes set-uid and set-gid bits from what commands leave, wherever it lies in the work tree', async () => {
    const scratch = prepared();
    const workspace = await scratch.open();
    await workspace.capture('all');
    const left = [
      'src/known',
      'src/new',
      'x.log',
      'build/deep/tool',
      'build/new/tool',
      'other/inside',
      'caf\udce9',
    ];
    for (const path of left) {
      scratch.write(path, 'planted\n');
      chmodSync(scratch.path(path), 0o6755);
    }
    chmodSync(scratch.path('build/deep'), 0o6775);
    const [warning] = await looked(workspace);
    expect(modes(scratch, ...left, 'build/deep')).toEqual([...left.map(() => '755'), '775']);
    expect(warning).toMatch(
      /^\[WARN_SET_ID_CLEARED\] Commands set set-uid or set-gid bits, which were cleared: ("[^"]+", ){4}"[^"]+" and 3 more\.$/,
    );
    expect(await workspace.capture('all')).toEqual([]);
  });

  test('looks where commands have closed the way, and at files that may only be executed', async () => {
    const scratch = prepared();
    const workspace = await scratch.open();
    await workspace.capture('all');
    chmodSync(scratch.path('build/deep/tool'), 0o4111);
    chmodSync(scratch.path('build/deep'), 0);
    await looked(workspace);
    expect(modes(scratch, 'build/deep/tool')).toEqual(['111']);
  });

  test('leaves what had them before, and what folders inherit', async () => {
    const scratch = prepared();
    scratch.write('build/old', 'old\n');
    chmodSync(scratch.path('build/old'), 0o4755);
    for (const folder of ['src', 'build/deep']) chmodSync(scratch.path(folder), 0o2755);
    const workspace = await scratch.open();
    await workspace.capture('all');
    mkdirSync(scratch.path('src/a/b'), { recursive: true });
    mkdirSync(scratch.path('build/deep/a'));
    expect(modes(scratch, 'src/a/b', 'build/deep/a')).toEqual(['2755', '2755']);
    expect(await looked(workspace)).toEqual([]);
    const kept = ['src', 'src/a', 'src/a/b', 'build/deep', 'build/deep/a', 'build/old'];
    expect(modes(scratch, ...kept)).toEqual(['2755', '2755', '2755', '2755', '2755', '4755']);
  });

  test('takes them from a set-uid file that commands have changed or moved', async () => {
    const scratch = prepared();
    for (const path of ['build/old', 'build/moved']) {
      scratch.write(path, 'old\n');
      chmodSync(scratch.path(path), 0o4755);
    }
    const workspace = await scratch.open();
    await workspace.capture('all');
    scratch.writeInPlace('build/old', 'planted\n');
    chmodSync(scratch.path('build/old'), 0o4755);
    renameSync(scratch.path('build/moved'), scratch.path('build/here'));
    await looked(workspace);
    expect(modes(scratch, 'build/old', 'build/here')).toEqual(['755', '755']);
  });

  test('knows after a resume what folders had at the start', async () => {
    const scratch = prepared();
    chmodSync(scratch.path('build/deep'), 0o2755);
    const workspace = await scratch.open();
    await workspace.capture('all');
    scratch.write('build/deep/tool', 'planted\n');
    chmodSync(scratch.path('build/deep/tool'), 0o4755);
    chmodSync(scratch.path('src/known'), 0o4755);
    const again = await reopenWorkspace(
      await scratch.checkout(),
      { shadowDir: scratch.shadow, sandboxGitDir: join(scratch.shadow, '../agent.git'), env: scratch.env },
      { base: workspace.base(), states: new Map(), written: [], newGitDirs: 'accepted' },
    );
    expect(again.status).toBe('ok');
    if (again.status === 'ok') await again.workspace.ignoredWrites();
    expect(modes(scratch, 'build/deep', 'build/deep/tool', 'src/known')).toEqual(['2755', '755', '755']);
  });
});

test.each(['a sweep of the run', 'undo of a run that died'])('%s comes to every file', async (who) => {
  const scratch = prepared();
  const workspace = await scratch.open();
  const paths = ['src/known', 'build/deep/tool', 'other/inside'];
  for (const path of paths) chmodSync(scratch.path(path), 0o4755);
  const warned =
    who === 'a sweep of the run'
      ? await workspace.sweep().then(() => workspace.notes().warnings)
      : await clearSetIdsOf(scratch.root, scratch.shadow);
  expect(modes(scratch, ...paths)).toEqual(['755', '755', '755']);
  expect(warned).toContainEqual(expect.stringContaining('"build/deep/tool"'));
});

test('bits that cannot be cleared are named', () => {
  const folder = tempFolder();
  const setIds = new SetIds();
  setIds.begin(0n);
  writeFileSync(join(folder, 'tool'), '');
  chmodSync(join(folder, 'tool'), 0o4755);
  const view = new TreeView(folder);
  const name = 'n'.repeat(300);
  setIds.see(view, name, fileStat(lstatSync(join(folder, 'tool'), { bigint: true })));
  view.close();
  expect(setIds.warnings()).toEqual([
    expect.stringMatching(/^\[WARN_SET_ID_LEFT\] .* yourself: "n{200}"\.$/),
  ]);
});
