/** The workspace over a git checkout: composition of walk, snapshot, shadow repository and patch. */

import { join } from 'node:path';
import type { PathChange } from '../../domain/change.ts';
import type { BaseRevision } from '../../domain/events.ts';
import type { RepoPath } from '../../domain/path.ts';
import type {
  AgentGit,
  FileList,
  FileRead,
  FileWrite,
  PatchResult,
  SearchQuery,
  SearchResult,
  Workspace,
} from '../../ports.ts';
import { hideSubmodules, makeAgentGit } from './agent-git.ts';
import { makeRepository } from './bare-repository.ts';
import { keepTree } from './base-copy.ts';
import type { Checkout } from './checkout-layout.ts';
import { emptyFoldersFile } from './empty-folders.ts';
import { globMatcher } from './file-glob.ts';
import { runGit } from './git.ts';
import { openGuardedFiles } from './guarded-files.ts';
import { blobId, ObjectStore } from './object-store.ts';
import { makeProvenPatch } from './patch.ts';
import { takeRuleFile, takeRuleFilesOfIndex } from './rule-files.ts';
import { searchFiles } from './search.ts';
import { Snapshot } from './snapshot.ts';
import { crlfInIndex, readStartIndex } from './start-index.ts';
import { StartRules } from './start-rules.ts';
import { TrackedPaths } from './tracked-paths.ts';
import { ScratchIndex } from './trees.ts';
import { readUserSettings, type UserEnvironment } from './user-settings.ts';
import { type WalkedTree, walk } from './walk.ts';

/** Where the workspace keeps its own things: folders outside the work tree that do not exist yet. */
export interface WorkspacePlaces {
  readonly shadowDir: string;
  readonly agentGitDir: string;
  /** Names the user's git configuration. */
  readonly env: UserEnvironment;
}

/** Files above this are not read for the model; it reads a part of them with a command. */
const MAX_READ_BYTES = 32 * 1024 * 1024;

/** Ignored files that are named; more of them help nobody. */
const MAX_IGNORED_WRITES = 100;

/** Warnings that are told; a hostile tree could make thousands. */
const MAX_WARNINGS = 50;

/** Takes the checkout as it is now as the baseline. Nothing of the user's is written to, and nothing of it is run. */
export async function openWorkspace(checkout: Checkout, places: WorkspacePlaces): Promise<Workspace> {
  const { root, objectFormat } = checkout;
  const { shadowDir } = places;
  const settings = await readUserSettings(root, places.env);
  makeRepository({
    gitDir: shadowDir,
    objectFormat,
    alternate: checkout.objects,
    head: 'ref: refs/heads/none',
    // Names that a checkout on Windows or macOS could not hold are judged by the walk; here they must pass.
    core: { bare: true, fsmonitor: false, hooksPath: '/dev/null', protectHFS: false, protectNTFS: false },
  });
  const [agentGit, index] = await Promise.all([
    makeAgentGit(checkout, places.agentGitDir, settings),
    readStartIndex(checkout.gitDir, shadowDir),
  ]);
  const rules = new StartRules(join(shadowDir, 'rules'), join(checkout.commonDir, 'info'), settings);
  await takeRuleFilesOfIndex(root, index, shadowDir, rules);

  const tracked = new TrackedPaths();
  const warnings = new Set<string>();
  for (const [path, { mode }] of index.entries) {
    if (mode === '160000') tracked.addSubmodule(path);
    else tracked.addFile(path);
  }
  if (tracked.submodules.length > 0) {
    await hideSubmodules(agentGit.gitDir, tracked.submodules);
    warnings.add(`Submodules are left as they are: ${tracked.submodules.join(', ')}.`);
  }

  const tree: WalkedTree = { root, rules, tracked, onRuleFile: (path) => takeRuleFile(root, path, rules) };
  const snapshot = await Snapshot.take({
    tree,
    index,
    fileMode: settings.fileMode,
    clockFile: join(shadowDir, 'clock'),
    emptyFoldersFile: emptyFoldersFile(shadowDir),
    contents: {
      root,
      store: new ObjectStore(shadowDir, objectFormat),
      conversions: (paths) => rules.conversions(paths),
      crlfInIndex: (paths) => crlfInIndex(index, paths, shadowDir),
      warn: (text) => warnings.add(text),
    },
  });
  rules.freeze();
  const base = await baseRevision(checkout, shadowDir, snapshot);
  return new GitWorkspace({ checkout, shadowDir, base, agentGit, tree, snapshot, warnings });
}

async function baseRevision(
  checkout: Checkout,
  shadowDir: string,
  snapshot: Snapshot,
): Promise<BaseRevision> {
  const index = new ScratchIndex(shadowDir, 'base.index');
  await index.edit(snapshot.states());
  const tree = await index.writeTree();
  const { commit, branchRef } = checkout.head;
  const headTree =
    commit === null
      ? null
      : await runGit({
          cwd: shadowDir,
          args: [`--git-dir=${shadowDir}`, 'rev-parse', '--verify', `${commit}^{tree}`],
        });
  return {
    commit,
    tree,
    branch: branchRef === null ? null : branchRef.replace(/^refs\/heads\//, ''),
    dirty: headTree === null ? snapshot.states().length > 0 : headTree.toString('latin1').trim() !== tree,
    objectFormat: checkout.objectFormat,
  };
}

interface WorkspaceParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly base: BaseRevision;
  readonly agentGit: AgentGit;
  readonly tree: WalkedTree;
  readonly snapshot: Snapshot;
  readonly warnings: Set<string>;
}

class GitWorkspace implements Workspace {
  readonly root: string;
  readonly base: BaseRevision;
  readonly agentGit: AgentGit;
  readonly #parts: WorkspaceParts;
  readonly #ignoredWrites = new Set<string>();
  /** Ends when the shadow repository has all of the base; begun while the model is busy, needed when the run is over. */
  #keeping: Promise<void> | null = null;
  /** Ends when the work before has ended: captures and patches come one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: WorkspaceParts) {
    this.root = parts.checkout.root;
    this.base = parts.base;
    this.agentGit = parts.agentGit;
    this.#parts = parts;
  }

  async readFile(path: RepoPath): Promise<FileRead> {
    const read = await openGuardedFiles(this.root).read(path, MAX_READ_BYTES);
    if (read.status === 'failed') return read;
    const { bytes } = read;
    return { status: 'ok', bytes, text: textOf(bytes), blob: blobId(bytes, this.base.objectFormat) };
  }

  async writeFile(path: RepoPath, bytes: Uint8Array): Promise<FileWrite> {
    const { tracked } = this.#parts.tree;
    const submodule = tracked.submoduleOf(path);
    if (submodule !== null) {
      const message = `${JSON.stringify(path)} lies in the submodule ${JSON.stringify(submodule)}, which is left as it is.`;
      return { status: 'failed', reason: 'path_refused', message };
    }
    const written = await openGuardedFiles(this.root).write(path, bytes);
    if (written.status === 'failed') return written;
    const ignored = !(await walk(this.#parts.tree, path)).files.has(path);
    if (ignored) this.#ignoredWrites.add(path);
    return { ...written, blob: blobId(bytes, this.base.objectFormat), ignored };
  }

  async listFiles(path: RepoPath, glob: string | null): Promise<FileList> {
    const walked = await walk(this.#parts.tree, path);
    if (walked.scope !== path || walked.at === 'absent') {
      const scope = JSON.stringify(walked.scope);
      if (walked.at === 'foreign') return { status: 'ok', paths: [] };
      const message =
        walked.at === 'absent' ? `There is no ${scope}.` : `${scope} is a file or a link, not a folder.`;
      return { status: 'failed', reason: 'not_found', message };
    }
    const isMatch = glob === null ? () => true : globMatcher(glob);
    const from = walked.at === 'folder' && path !== '' ? path.length + 1 : 0;
    const paths = [...walked.files.keys()].filter((file) => isMatch(file.slice(from)));
    return { status: 'ok', paths: paths.sort() };
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    const listed = await this.listFiles(query.path, query.glob);
    return listed.status === 'failed' ? listed : searchFiles(this.root, listed.paths, query);
  }

  capture(scope: 'all' | readonly string[]): Promise<PathChange[]> {
    this.#keeping ??= this.#keepBase();
    return this.#inTurn(() => this.#parts.snapshot.capture(scope));
  }

  async ignoredWrites(): Promise<string[]> {
    return [...this.#ignoredWrites].sort().slice(0, MAX_IGNORED_WRITES);
  }

  warnings(): string[] {
    const all = [...this.#parts.warnings];
    const rest = all.length - MAX_WARNINGS;
    return rest > 0 ? [...all.slice(0, MAX_WARNINGS), `${rest} more warnings about files.`] : all;
  }

  async makePatch(net: readonly PathChange[]): Promise<PatchResult> {
    await this.#keeping;
    return this.#inTurn(() => makeProvenPatch(this.#parts.shadowDir, this.base.tree, net));
  }

  async #keepBase(): Promise<void> {
    const failure = await keepTree(this.#parts.shadowDir, this.base.tree);
    if (failure !== null)
      this.#parts.warnings.add(`The run cannot be replayed without this checkout: ${failure}.`);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work, work);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}

/** Null when the bytes are no text: not UTF-8, or with a NUL. A byte order mark stays. */
function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
