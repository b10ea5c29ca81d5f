/** The workspace over a git checkout: composition of walk, snapshot, shadow repository and patch. open-workspace.ts makes one. */

import { lstatSync } from 'node:fs';
import type { PathChange } from '../../domain/change.ts';
import type { ExceededChangeLimit } from '../../domain/change-limits.ts';
import { CutShort } from '../../domain/cut-short.ts';
import type { BaseRevision } from '../../domain/events.ts';
import { repositoriesAround } from '../../domain/git-folder.ts';
import { type GlobMatcher, globMatcher, MAX_GLOB_LENGTH } from '../../domain/glob.ts';
import { IgnoredFileList, type IgnoredFiles } from '../../domain/ignored-files.ts';
import type { RepoPath } from '../../domain/path.ts';
import type {
  AgentGit,
  CaptureScope,
  FileList,
  FileRead,
  FileWrite,
  Line,
  NestedChange,
  PatchResult,
  PutBack,
  SearchQuery,
  SearchResult,
  Workspace,
} from '../../ports.ts';
import { keepTree } from './base-copy.ts';
import type { ChangeBudget } from './change-budget.ts';
import type { Checkout } from './checkout-layout.ts';
import type { Instant } from './earlier-changes.ts';
import { openGuardedFiles } from './guarded-files.ts';
import { findIgnoredChanges, keepBeginning } from './ignored-changes.ts';
import { type NestedFolders, nestedChanges } from './nested-changes.ts';
import { blobId } from './object-store.ts';
import { makeProvenPatch } from './patch.ts';
import type { PlantedGit } from './planted-git.ts';
import { searchFiles } from './search.ts';
import type { Snapshot } from './snapshot.ts';
import { sweepSetIds } from './sweep-set-ids.ts';
import { viewing } from './tree-view.ts';
import { BASE_INDEX, ScratchIndex } from './trees.ts';
import { walk } from './walk.ts';
import type { WalkedTree } from './walked-tree.ts';

/** Files above this are not read for the model; it reads a part of them with a command. */
const MAX_READ_BYTES = 8 * 1024 * 1024;

/** Warnings that are told; a hostile tree could make thousands. */
const MAX_WARNINGS = 50;

const IGNORED_CUT_SHORT =
  'There was no time to look at all files that git ignores: set-uid bits that commands have set may be left on them.';

interface WorkspaceParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly base: BaseRevision;
  readonly agentGit: AgentGit;
  readonly tree: WalkedTree;
  readonly snapshot: Snapshot;
  readonly planted: PlantedGit;
  readonly beside: NestedFolders;
  readonly warnings: Set<string>;
  readonly budget: ChangeBudget;
}

export class GitWorkspace implements Workspace {
  readonly root: string;
  readonly agentGit: AgentGit;
  readonly #parts: WorkspaceParts;
  #base: BaseRevision;
  /** When the last commands began, where the file system's clock tells. */
  #lastLine: Instant | null = null;
  /** Ends when the shadow repository has all of the base; begun while the model is busy, needed when the run is over. */
  #keeping: Promise<void> | null = null;
  /** Ends when the work before has ended: captures and patches come one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: WorkspaceParts) {
    this.root = parts.checkout.root;
    this.#base = parts.base;
    this.agentGit = parts.agentGit;
    this.#parts = parts;
  }

  get base(): BaseRevision {
    return this.#base;
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
      const message = `${JSON.stringify(path)} lies in the submodule ${JSON.stringify(submodule)}, which is left out.`;
      return { status: 'failed', reason: 'path_refused', message };
    }
    keepBeginning(this.#parts.shadowDir);
    const written = await openGuardedFiles(this.root).write(path, bytes);
    if (written.status === 'failed') return written;
    const ignored = !(await walk(this.#parts.tree, path)).files.has(path);
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
    if (glob !== null && glob.length > MAX_GLOB_LENGTH)
      return { status: 'failed', reason: 'invalid_input', message: 'The glob is too long.' };
    const isMatch = glob === null ? () => true : filterOf(glob);
    const from = walked.at === 'folder' && path !== '' ? path.length + 1 : 0;
    const paths = [...walked.files.keys()].filter((file) => isMatch(file.slice(from)));
    return { status: 'ok', paths: paths.sort() };
  }

  async search(query: SearchQuery): Promise<SearchResult> {
    const listed = await this.listFiles(query.path, query.glob);
    return listed.status === 'failed' ? listed : searchFiles(this.root, listed.paths, query);
  }

  capture(scope: CaptureScope): Promise<PathChange[]> {
    this.#keeping ??= this.#keepBase();
    return this.#inTurn(() => this.#parts.snapshot.capture(scope));
  }

  drawLine(): Promise<Line> {
    const { snapshot, shadowDir } = this.#parts;
    keepBeginning(shadowDir);
    // A clock of another file system may be another one.
    const ownClock = lstatSync(this.root).dev === lstatSync(shadowDir).dev;
    return this.#inTurn(async () => {
      const changes = ownClock ? [] : await snapshot.capture('all');
      const instant = ownClock ? snapshot.instant() : null;
      this.#lastLine = instant;
      return {
        changes,
        captureSince: () =>
          this.#inTurn(async () =>
            instant === null
              ? { earlier: [], since: await snapshot.capture('after_commands') }
              : snapshot.captureSince(instant),
          ),
      };
    });
  }

  sweep(): Promise<void> {
    const { snapshot, tree } = this.#parts;
    return this.#inTurn(async () => {
      await snapshot.sweepGitDirs(this.#lastLine);
      await sweepSetIds(this.root, tree.closed, tree.setIds);
    });
  }

  putBack(changes: readonly PathChange[], all: readonly PathChange[]): Promise<PutBack> {
    const { snapshot, shadowDir, tree, beside } = this.#parts;
    return this.#inTurn(async () => {
      // Few runs have anything to put back.
      const { isMovedIn, putBack } = await import('./put-back.ts');
      const { openedNs } = beside;
      const isFound = isMovedIn({ root: this.root, openedNs, all });
      return putBack(changes, { root: this.root, shadowDir, snapshot, closed: tree.closed, isFound });
    });
  }

  hidden(): readonly string[] {
    return this.#parts.snapshot.hidden;
  }

  removedGitDirs(): readonly string[] {
    return this.#parts.planted.removed;
  }

  async repositoriesAround(paths: readonly string[], added: readonly string[] = []): Promise<string[]> {
    const { closed } = this.#parts.tree;
    return viewing(this.root, (view) =>
      repositoriesAround(paths, (folder) => {
        const listing = closed.insist(folder, () => view.listFolder(folder));
        const there = listing.status === 'seen' ? listing.entries.map(({ name }) => name) : [];
        const from = folder === '' ? 0 : folder.length + 1;
        const below = added.filter((path) => path.startsWith(folder === '' ? '' : `${folder}/`));
        return [...there, ...below.map((path) => path.slice(from).split('/', 1)[0] ?? '')];
      }),
    );
  }

  async ignoredWrites(): Promise<IgnoredFiles> {
    const { tree, shadowDir, planted, warnings } = this.#parts;
    const found = new IgnoredFileList();
    await findIgnoredChanges({ tree, unwalked: planted.unwalked, shadowDir }, found).catch(
      (error: unknown) => {
        // What was found until then is worth telling.
        if (!(error instanceof CutShort)) throw error;
        warnings.add(IGNORED_CUT_SHORT);
      },
    );
    return found.list();
  }

  exceeded(): ExceededChangeLimit | null {
    return this.#parts.budget.exceeded;
  }

  nestedChanges(): Promise<NestedChange[]> {
    return this.#inTurn(() => nestedChanges(this.#parts.beside));
  }

  warnings(): string[] {
    const { warnings, budget, tree } = this.#parts;
    const all = [...leftOutWarning(budget.leftOut), ...tree.setIds.warnings(), ...warnings];
    const rest = all.length - MAX_WARNINGS;
    return rest > 0 ? [...all.slice(0, MAX_WARNINGS), `${rest} more warnings about files.`] : all;
  }

  async rebase(changes: readonly PathChange[]): Promise<void> {
    const index = new ScratchIndex(this.#parts.shadowDir, BASE_INDEX);
    await index.readTree(this.#base.tree);
    await index.edit(changes.map(({ path, after }) => ({ path, state: after })));
    this.#base = { ...this.#base, tree: await index.writeTree(), dirty: true };
  }

  async makePatch(net: readonly PathChange[]): Promise<PatchResult> {
    await this.#keeping;
    return this.#inTurn(() => makeProvenPatch(this.#parts.shadowDir, this.base, net));
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

/** One warning, or none. */
function leftOutWarning(paths: readonly string[]): string[] {
  if (paths.length === 0) return [];
  const named = paths.slice(0, 5).map((path) => JSON.stringify(path.slice(0, 200)));
  const more = paths.length > named.length ? ` and ${paths.length - named.length} more` : '';
  return [`Changed, and not in the patch since it is over the limit: ${named.join(', ')}${more}.`];
}

/** A leading `!` is everything else. */
function filterOf(glob: string): GlobMatcher {
  if (!glob.startsWith('!')) return globMatcher(glob);
  const matches = filterOf(glob.slice(1));
  return (path) => !matches(path);
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
