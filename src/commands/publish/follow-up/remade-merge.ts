/**
 * The merge that a follow-up has resolved, repeated in a separate clone: the run directory only names the commits. GitHub does
 * not have its tree, so that is read here.
 */

import { mergeBaseOf } from '../../../adapters/github/branch.ts';
import type { PartialClone } from '../../../adapters/github/committers/partial-clone.ts';
import type { OwnPull } from '../../../adapters/github/follow-up/continued-pull.ts';
import { findCommit } from '../../../adapters/github/objects.ts';
import type { OnGitHub } from '../../../adapters/github/request.ts';
import { type Conflict, conflictKind, hasMarkers } from '../../../domain/github/conflict.ts';
import type { FollowUp } from '../../../domain/github/follow-up.ts';
import { publishFailed } from '../../../domain/run/outcome.ts';
import { listed, sentence } from '../../../domain/text/words.ts';
import { decodeName } from '../../../files/names.ts';
import { askGit } from '../../../git/git.ts';
import { mergeTrees } from '../../../git/store/merge-trees.ts';
import { treeDifferences, treeEntries } from '../../../git/store/trees.ts';
import type { CommitOrder, GitHub, NewFile } from '../../../ports/github.ts';
import type { PublishJob, Refused } from '../job.ts';
import type { Change } from '../rebuild-run.ts';
import { cloneToMerge } from './clean-merge.ts';

/** The merge of the head as it is now, with its conflicts. */
export interface RemadeMerge {
  readonly status: 'ok';
  readonly tree: string;
  /** The tree that the run began with: the merge of the head as it was then. */
  readonly runTree: string;
  /** The same repository, whose trees and contents are looked for in the clone first. */
  readonly where: OnGitHub;
  /** What to commit if the change leads to these contents, or why they are not a resolved merge. */
  order(change: Change): Promise<Refused | ({ status: 'ok' } & MergeOrder)>;
}

type MergeOrder = Pick<CommitOrder, 'baseCommit' | 'baseTree' | 'files' | 'parents'>;

/** Refuses a commit that the base does not contain, and a merge with a different result. */
export async function remakeMerge(
  job: PublishJob,
  pull: OwnPull,
  followUp: FollowUp & { readonly merge: string },
): Promise<Refused | RemadeMerge> {
  const { upstream, result } = job;
  const { merge } = followUp;
  const name = `${pull.base.branch} (${merge.slice(0, 8)})`;
  if ((await mergeBaseOf(upstream, pull.base.sha, merge)) !== merge)
    return refuse(job, `The run has merged ${merge.slice(0, 8)}, which is not in ${pull.base.branch}.`);
  const base = await findCommit(upstream, merge);
  if (base === null) return refuse(job, `GitHub does not show the commit ${merge}.`);
  const clone = cloneToMerge(job);
  const began = await mergeIn(clone, upstream, { head: followUp.head, merge });
  const now =
    pull.head === followUp.head ? began : await mergeIn(clone, upstream, { head: pull.head, merge });
  if (began.status === 'failed') return refuse(job, sentence(began.message));
  if (now.status === 'failed') return refuse(job, sentence(now.message));
  if (began.tree !== result.baseTree)
    return refuse(
      job,
      `The run began with the tree ${result.baseTree}, and merging ${name} gives ${began.tree}: there were other uncommitted changes, or a different version of git merged differently.`,
    );
  const known = new Set(began.conflicts.map(({ path }) => path));
  const more = now.conflicts.filter(({ path }) => !known.has(path)).map(({ path }) => path);
  if (more.length > 0)
    return refuse(
      job,
      `Since the run started, the branch has more conflicts with ${name}: ${listed(more, 10, 'file')}. Run it again.`,
    );
  return {
    status: 'ok',
    tree: now.tree,
    runTree: began.tree,
    where: { ...upstream, github: clonedFirst(upstream.github, clone) },
    async order({ files }) {
      const left = await unresolved(clone, now, files);
      if (left.length > 0)
        return refuse(job, `The conflict with ${name} is not resolved in ${listed(left, 10, 'file')}.`);
      const parents = [pull.head, merge];
      const all = await filesSince(clone, { base: merge, tree: now.tree, parents }, files);
      return { status: 'ok', baseCommit: merge, baseTree: base.tree.sha, files: all, parents };
    },
  };
}

function refuse({ run }: PublishJob, why: string): Refused {
  return {
    status: 'refused',
    outcome: publishFailed('ERR_MERGE_NOT_MADE', `${why} The patch is kept in ${run.directory.patch}.`),
  };
}

async function mergeIn(
  clone: PartialClone,
  upstream: OnGitHub,
  { head, merge }: { head: string; merge: string },
) {
  const before = await mergeBaseOf(upstream, merge, head);
  const unfetched = await clone.fetch([before, head, merge]);
  if (unfetched !== null) return { status: 'failed' as const, message: unfetched };
  return mergeTrees(clone.gitDir, { before, ours: head, theirs: merge }, clone.network.env);
}

/** Conflicts with markers in the result, and those that cannot be distinguished from a resolved one unless the change touches them. */
async function unresolved(
  clone: PartialClone,
  { tree, conflicts }: { tree: string; conflicts: readonly Conflict[] },
  files: readonly NewFile[],
): Promise<string[]> {
  const changed = new Map(files.map((file) => [file.path, file]));
  const left: string[] = [];
  for (const conflict of conflicts) {
    const { path } = conflict;
    const file = changed.get(path);
    if (file === undefined) {
      const content = await local(clone, ['cat-file', 'blob', `${tree}:${path}`], clone.network);
      const kind = conflictKind(conflict, content);
      if (kind === 'lines' || kind === null) left.push(path);
    } else if (hasMarkers(file.state?.bytes?.toString('utf8') ?? '')) left.push(path);
  }
  return left;
}

/** The changes to the base's tree that lead to the resolved merge. */
async function filesSince(
  clone: PartialClone,
  { base, tree, parents }: { base: string; tree: string; parents: readonly string[] },
  changed: readonly NewFile[],
): Promise<NewFile[]> {
  const differences = await treeDifferences(clone.gitDir, base, tree);
  const files = new Map<string, NewFile>();
  const onGitHub = await blobsIn(clone, parents);
  for (const { path, after } of differences) {
    const isNew = after !== null && after.mode !== '160000' && !onGitHub.has(after.blob);
    const bytes = isNew ? await contentAt(clone, after.blob) : null;
    files.set(path, { path, state: after && { ...after, bytes } });
  }
  const added = new Set(differences.flatMap(({ path, before }) => (before === null ? [path] : [])));
  for (const file of changed) {
    // GitHub refuses to remove missing files.
    if (file.state === null && added.has(file.path)) files.delete(file.path);
    else files.set(file.path, file);
  }
  return [...files.values()];
}

async function blobsIn(clone: PartialClone, commits: readonly string[]): Promise<Set<string>> {
  const found = new Set<string>();
  for (const commit of commits) {
    const entries = (await treeEntries(clone.gitDir, commit)) ?? [];
    for (const { mode, id } of entries) if (mode !== '160000') found.add(id);
  }
  return found;
}

/** Null where there is nothing. */
function contentAt(clone: PartialClone, name: string): Promise<Buffer | null> {
  return local(clone, ['cat-file', 'blob', name]);
}

/** Git's output, without access to the server unless that is configured; null if git fails. */
async function local(
  { gitDir }: PartialClone,
  args: readonly string[],
  network: Partial<PartialClone['network']> = {},
): Promise<Buffer | null> {
  const answer = await askGit({ cwd: gitDir, args: [`--git-dir=${gitDir}`, ...args], ...network });
  return answer.exitCode === 0 ? answer.stdout : null;
}

/** A GitHub that takes trees and contents from the clone, if it has them. */
function clonedFirst(github: GitHub, clone: PartialClone): GitHub {
  return {
    list: (asked) => github.list(asked),
    query: (asked) => github.query(asked),
    async ask(request) {
      const { route, parameters = {}, schema } = request;
      const id = String(parameters.tree_sha ?? parameters.file_sha ?? '');
      const answer =
        route.startsWith('GET ') && /^[0-9a-f]{40}$/.test(id) ? await cloned(clone, route, id) : null;
      return answer === null ? github.ask(request) : { status: 'ok', data: schema.parse(answer) };
    },
  };
}

async function cloned(clone: PartialClone, route: string, id: string): Promise<object | null> {
  if (route.endsWith('/git/blobs/{file_sha}')) {
    const bytes = await contentAt(clone, id);
    return bytes && { content: bytes.toString('base64'), encoding: 'base64', size: bytes.length };
  }
  if (!route.endsWith('/git/trees/{tree_sha}')) return null;
  const listed = await local(clone, ['ls-tree', '-z', id]);
  if (listed === null) return null;
  const entries = listed.toString('latin1').matchAll(/(\d{6}) [a-z]+ ([0-9a-f]{40})\t([^\0]+)\0/gy);
  const tree = [...entries].map(([, mode, sha, name = '']) => ({
    path: decodeName(Buffer.from(name, 'latin1')),
    mode,
    sha,
  }));
  return { tree, truncated: false };
}
