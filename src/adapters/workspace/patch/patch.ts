/** Makes the patch from two trees, and proves that it makes the one from the other. */

import { createHash } from 'node:crypto';
import type { ChangeKind, PathChange } from '../../../domain/changes/change.ts';
import type { ChangedFile } from '../../../domain/changes/changed-file.ts';
import type { BaseRevision } from '../../../domain/run/events.ts';
import { decodeName } from '../../../files/names.ts';
import { askGit, runGit } from '../../../git/git.ts';
import { BASE_INDEX, ScratchIndex } from '../../../git/trees.ts';
import type { PatchResult, ProvenPatch } from '../../../ports.ts';

/** The patch of `net` on the base's tree. Equal trees give equal bytes, whatever the user's configuration says. */
export async function makeProvenPatch(
  shadowDir: string,
  base: Pick<BaseRevision, 'tree' | 'objectFormat'>,
  net: readonly PathChange[],
): Promise<PatchResult> {
  const { tree: baseTree, objectFormat } = base;
  if (net.length === 0) return { status: 'proven', patch: emptyPatch(baseTree) };
  const target = new ScratchIndex(shadowDir, 'patch.index');
  if (!target.copy(BASE_INDEX, objectFormat)) await target.readTree(baseTree);
  await target.edit(net.map(({ path, after }) => ({ path, state: after })));
  const trees = { shadowDir, baseTree, tree: await target.writeTree() };
  const withRenames = await prove(trees, '--find-renames=50%');
  // Git does not apply every rename that it finds: not that of a link into a folder that takes the link's place.
  return withRenames.status === 'proven' ? withRenames : prove(trees, '--no-renames');
}

function emptyPatch(tree: string): ProvenPatch {
  const bytes = new Uint8Array();
  return { bytes, sha256: sha256Of(bytes), baseTree: tree, tree, files: [] };
}

interface Trees {
  readonly shadowDir: string;
  readonly baseTree: string;
  readonly tree: string;
}

async function prove(trees: Trees, renames: string): Promise<PatchResult> {
  const { shadowDir, baseTree, tree } = trees;
  const proof = new ScratchIndex(shadowDir, 'proof.index');
  // The proof begins from the tree itself, and not from the index that the target was made with.
  const [diff, files] = await Promise.all([
    askGit({
      cwd: shadowDir,
      args: [`--git-dir=${shadowDir}`, ...DIFF, renames, ...TEXT, baseTree, tree],
    }),
    changedFiles(trees, renames),
    proof.readTree(baseTree),
  ]);
  if (diff.exitCode !== 0) return failed('be made', diff.stderr);
  const bytes = diff.stdout;
  if (bytes.length > 0) {
    const applied = await proof.apply(bytes);
    if (applied.exitCode !== 0) return failed('be applied to its base', applied.stderr);
    const rebuilt = await proof.writeTree();
    if (rebuilt !== tree) return failed('be proven', `it makes tree ${rebuilt} instead of ${tree}`);
  } else if (tree !== baseTree) {
    return failed('be made', `trees ${baseTree} and ${tree} differ without a difference`);
  }
  return { status: 'proven', patch: { bytes, sha256: sha256Of(bytes), baseTree, tree, files } };
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Everything that a configuration could change about the diff is stated. */
const DIFF = [
  '-c',
  'diff.renameLimit=1000',
  '-c',
  'diff.orderFile=',
  'diff-tree',
  '-r',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--ignore-submodules=none',
  '--submodule=short',
  '--no-abbrev',
];

const TEXT = [
  '--patch',
  '--binary',
  '--full-index',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
  '--inter-hunk-context=0',
  '--diff-algorithm=myers',
  '--indent-heuristic',
];

async function changedFiles({ shadowDir, baseTree, tree }: Trees, renames: string): Promise<ChangedFile[]> {
  const listed = await runGit({
    cwd: shadowDir,
    args: [`--git-dir=${shadowDir}`, ...DIFF, renames, '-z', '--raw', '--numstat', baseTree, tree],
  });
  const fields = listed.toString('latin1').split('\0');
  // Taken by position: shifting a long list takes time that grows with the square of its length.
  let at = 0;
  const next = () => fields[at++] ?? '';
  const kinds: { path: string; kind: ChangeKind; from?: string }[] = [];
  while (fields[at]?.startsWith(':')) {
    const [, , before, after, status = ''] = next().split(' ');
    const path = next();
    if (status.startsWith('R')) kinds.push({ from: path, path: next(), kind: 'rename' });
    else kinds.push({ path, kind: kindOf(status, before === after) });
  }
  return kinds.map(({ path, kind, from }) => {
    const [additions, deletions] = next().split('\t');
    // After the counts of a rename come both its paths; the other counts carry their path with them.
    if (from !== undefined) at += 2;
    return {
      path: exact(path),
      kind,
      ...(from === undefined ? {} : { from: exact(from) }),
      additions: lines(additions),
      deletions: lines(deletions),
    };
  });
}

function kindOf(status: string, sameBlob: boolean): ChangeKind {
  if (status === 'A') return 'create';
  if (status === 'D') return 'delete';
  return sameBlob && status === 'M' ? 'mode' : 'modify';
}

function lines(count: string | undefined): number | null {
  return count === undefined || count === '-' ? null : Number(count);
}

function exact(latin1: string): string {
  return decodeName(Buffer.from(latin1, 'latin1'));
}

function failed(what: string, why: string): PatchResult {
  return { status: 'failed', message: `The patch cannot ${what}: ${why || 'git gave no reason'}.` };
}
