/** Makes the patch from two trees, proves that it turns one into the other, and reads our own patches back. */

import type { ChangedFile, PathChange } from '../../domain/changes/change.ts';
import { readPatchText } from '../../domain/changes/patch-text.ts';
import type { PatchedFile } from '../../domain/changes/provenance.ts';
import { repositoriesInTree } from '../../domain/review/git-folder.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { sha256Of } from '../../files/hash.ts';
import { decodeName } from '../../files/names.ts';
import { askIn } from '../../git/git.ts';
import { DIFF_TREE, FIND_RENAMES, readChangedFiles, ScratchIndex } from '../../git/store/trees.ts';
import type { PatchResult, ProvenPatch } from '../../ports/workspace.ts';

/** The patch of `net` against the base's tree, which has these paths. Equal trees give equal bytes, whatever the user's configuration says. */
export async function makeProvenPatch(
  shadowDir: string,
  { tree: baseTree, objectFormat }: Pick<BaseRevision, 'tree' | 'objectFormat'>,
  net: readonly PathChange[],
  basePaths: Iterable<string>,
): Promise<PatchResult> {
  if (net.length === 0) return { status: 'proven', patch: emptyPatch(baseTree) };
  const proof = await beginProof(shadowDir, baseTree);
  const index = new ScratchIndex(shadowDir, 'edited.index');
  index.copy(PROOF_INDEX, objectFormat);
  const tree = await index.editedTree(net.map(({ path, after }) => ({ path, state: after })));
  const made = await provenBetween({ shadowDir, baseTree, tree }, proof);
  if (made.status === 'failed') return made;
  const paths = new Set(basePaths);
  for (const { path, after } of net) after === null ? paths.delete(path) : paths.add(path);
  const changed = net.map(({ path }) => path);
  return { ...made, patch: { ...made.patch, repositories: repositoriesInTree(changed, [...paths]) } };
}

/** The patch that makes one tree of the shadow repository into another. */
export async function makeTreePatch(shadowDir: string, baseTree: string, tree: string): Promise<PatchResult> {
  return provenBetween({ shadowDir, baseTree, tree }, await beginProof(shadowDir, baseTree));
}

/** Detects renames if it can: git cannot apply that of a link into a folder that replaces the link. */
async function provenBetween(trees: Trees, proof: ScratchIndex): Promise<PatchResult> {
  const made = await prove(trees, FIND_RENAMES, proof);
  if (made.status === 'proven') return made;
  return prove(trees, '--no-renames', await beginProof(trees.shadowDir, trees.baseTree));
}

function emptyPatch(tree: string): ProvenPatch {
  const bytes = new Uint8Array();
  return { bytes, sha256: sha256Of(bytes), baseTree: tree, tree, files: [], repositories: [] };
}

const PROOF_INDEX = 'proof.index';

interface Trees {
  readonly shadowDir: string;
  readonly baseTree: string;
  readonly tree: string;
}

/** The index in which a patch is applied: git's own of the base, so that it proves also what the target is made with. */
async function beginProof(shadowDir: string, baseTree: string): Promise<ScratchIndex> {
  const index = new ScratchIndex(shadowDir, PROOF_INDEX);
  await index.readTree(baseTree);
  return index;
}

async function prove(
  { shadowDir, baseTree, tree }: Trees,
  renames: string,
  proof: ScratchIndex,
): Promise<PatchResult> {
  const args = [...DIFF_TREE, renames, '--raw', '--numstat', ...TEXT, baseTree, tree];
  const diff = await askIn(shadowDir, args);
  if (diff.exitCode !== 0) return failedPatch('be made', diff.stderr);
  // An empty line parts the lists from the text.
  const end = diff.stdout.indexOf('\n\n') + 1;
  const bytes = diff.stdout.subarray(end === 0 ? 0 : end + 1);
  const files = readChangedFiles(diff.stdout.toString('latin1', 0, end));
  if (bytes.length > 0) {
    const applied = await proof.appliedTree(bytes);
    if (applied.tree === null) return failedPatch('be applied to its base', applied.stderr);
    if (applied.tree !== tree)
      return failedPatch('be proven', `it makes tree ${applied.tree} instead of ${tree}`);
  } else if (tree !== baseTree) {
    return failedPatch('be made', `trees ${baseTree} and ${tree} differ without a difference`);
  }
  const sha256 = sha256Of(bytes);
  return { status: 'proven', patch: { bytes, sha256, baseTree, tree, files, repositories: [] } };
}

const TEXT = [
  ...'--patch --binary --full-index --src-prefix=a/ --dst-prefix=b/'.split(' '),
  ...'--unified=3 --inter-hunk-context=0 --diff-algorithm=myers --indent-heuristic'.split(' '),
];

function failedPatch(what: string, why: string): PatchResult & { status: 'failed' } {
  return { status: 'failed', message: `The patch cannot ${what}: ${why || 'git did not say why'}.` };
}

/** Larger patches, and those with more lines, are not parsed: each line becomes an object. */
const MAX_PARSED_PATCH_BYTES = 8 * 1024 * 1024;
const MAX_PATCH_LINES = 250_000;

/**
 * `files` are the changed files in the order of the patch. Texts are bytes as latin1 characters. Null if the patch is too
 * large, or if its sections do not match the files.
 */
export function patchedFiles(patch: Uint8Array, files: readonly ChangedFile[]): PatchedFile[] | null {
  if (patch.length > MAX_PARSED_PATCH_BYTES || linesWithin(patch, MAX_PATCH_LINES) === null) return null;
  if (patch.length === 0) return files.length === 0 ? [] : null;
  const parts = readPatchText(Buffer.from(patch).toString('latin1'));
  const patched = files.flatMap((file, at) => {
    const { path = '', hunks = null } = parts[at] ?? {};
    return decodeName(Buffer.from(path, 'latin1')) === file.path ? [{ file, hunks }] : [];
  });
  return parts.length === files.length && patched.length === files.length ? patched : null;
}

/** Number of line endings; null if there are more than `most`, after which counting stops. */
function linesWithin(bytes: Uint8Array, most: number): number | null {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1 && count <= most; at = bytes.indexOf(NEWLINE, at + 1))
    count += 1;
  return count > most ? null : count;
}

const NEWLINE = 10;

/** A line of a hunk as text; bytes that are not UTF-8 become U+FFFD. */
export function lineText(line: string): string {
  return Buffer.from(line, 'latin1').toString('utf8');
}
