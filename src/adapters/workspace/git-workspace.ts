/** The workspace over a git checkout: composition of walk, snapshot, shadow repository and patch. Created by open.ts. */

import { lstatSync } from 'node:fs';
import { IgnoredFileList } from '../../domain/changes/ignored-files.ts';
import { quotedName } from '../../domain/changes/path.ts';
import { repositoriesAround } from '../../domain/review/git-folder.ts';
import { CutShort } from '../../domain/run/cut-short.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/listed.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { type TreeView, viewing } from '../../files/tree-view.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { BASE_INDEX, ScratchIndex } from '../../git/store/trees.ts';
import type { SandboxGitDir, WholeWorkspace } from '../../ports/workspace.ts';
import { keepTree } from './baseline/base-copy.ts';
import { makeProvenPatch } from './patch/patch.ts';
import type { ChangeBudget } from './snapshot/change-budget.ts';
import type { Instant } from './snapshot/earlier-changes.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { WalkedTree } from './snapshot/walked-tree.ts';
import { findIgnoredChanges, keepBeginning } from './unwalked/ignored-changes.ts';
import { IgnoredWriteList } from './unwalked/ignored-writes.ts';
import { type NestedFolders, nestedChanges } from './unwalked/nested-changes.ts';
import type { PlantedGit } from './unwalked/planted-git.ts';
import { sweepSetIds } from './unwalked/sweep-set-ids.ts';
import type { WriteLog } from './unwalked/write-log.ts';
import { workTreeFiles } from './work-tree-files.ts';

/** Maximum number of warnings; a hostile tree could cause thousands. */
const MAX_WARNINGS = 50;

const IGNORED_CUT_SHORT = warning(
  'WARN_LOOK_CUT_SHORT',
  'Not all files that git ignores could be checked in time: set-uid bits that commands set may be left on them.',
);

interface WorkspaceParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly base: BaseRevision;
  readonly sandboxGitDir: SandboxGitDir;
  readonly tree: WalkedTree;
  readonly snapshot: Snapshot;
  readonly writeLog: WriteLog;
  readonly planted: PlantedGit;
  readonly beside: NestedFolders;
  readonly warnings: Set<Warning>;
  readonly budget: ChangeBudget;
  /** The whole base is stored with the run. */
  readonly keepsBase: boolean;
}

/** Captures, patches and anything else that reads the whole tree run one at a time, in the order requested. */
export function openGitWorkspace(parts: WorkspaceParts): WholeWorkspace {
  const { checkout, shadowDir, snapshot, tree, planted, warnings, budget, writeLog } = parts;
  const { root } = checkout;
  let { base } = parts;
  /** When the last commands began, provided that the file system's clock can be used. */
  let lastCommands: Instant | null = null;
  /**
   * Resolves when the shadow repository holds the whole base, if it is to; started while the model is busy, needed when the run
   * is over.
   */
  let keeping: Promise<void> | null = null;
  const inTurn = oneByOne();
  /** What the last look at ignored files found, until something may write again. */
  let ignored: ReturnType<typeof lookAtIgnored> | null = null;
  const lookAtIgnored = async () => {
    const names = new IgnoredFileList();
    const writes = new IgnoredWriteList(writeLog);
    const isWhole = await findIgnoredChanges(
      { tree, unwalked: planted.unwalked, shadowDir },
      (path, stat) => {
        names.add(path);
        if (stat !== null) writes.add(path, stat);
      },
    ).then(
      () => {
        warnings.delete(IGNORED_CUT_SHORT);
        return true;
      },
      (error: unknown) => {
        // What was found before the cut is still worth reporting.
        if (!(error instanceof CutShort)) throw error;
        warnings.add(IGNORED_CUT_SHORT);
        return false;
      },
    );
    return { names, writes, isWhole };
  };
  const files = workTreeFiles(parts, base.objectFormat);

  return {
    root,
    sandboxGitDir: parts.sandboxGitDir,
    base: () => base,
    baseline: async () => ({ base, uncovered: parts.sandboxGitDir.uncovered ?? [] }),
    ...files,

    writeFile(path, bytes, by) {
      ignored = null;
      return files.writeFile(path, bytes, by);
    },

    capture(scope) {
      if (parts.keepsBase) keeping ??= keepBase(parts, base);
      return inTurn(() => snapshot.capture(scope));
    },

    checkpoint(by) {
      ignored = null;
      keepBeginning(shadowDir);
      // Another file system may have another clock.
      const ownClock = lstatSync(root).dev === lstatSync(shadowDir).dev;
      return inTurn(async () => {
        const changes = ownClock ? [] : await snapshot.capture('all');
        const instant = ownClock ? snapshot.instant() : null;
        lastCommands = instant;
        if (instant === null) writeLog.distrust();
        else if (by !== undefined) writeLog.begin(by, instant.clockNs);
        return {
          changes,
          captureSince: () =>
            inTurn(async () =>
              instant === null
                ? { earlier: [], since: await snapshot.capture('after_commands'), identical: [] }
                : snapshot.captureSince(instant).finally(() => {
                    if (by !== undefined) writeLog.end(snapshot.instant().clockNs);
                  }),
            ),
        };
      });
    },

    sweep: () =>
      inTurn(async () => {
        await snapshot.sweepGitDirs(lastCommands);
        await sweepSetIds(root, tree.closed, tree.setIds);
      }),

    putBack: (changes, all) =>
      inTurn(async () => {
        // Few runs need to put anything back.
        const { revert, whyKept } = await import('./restore/revert.ts');
        const { openedNs } = parts.beside;
        const repositories = await repositoriesIn(
          parts,
          changes.map(({ path }) => path),
          [],
        );
        const isKept = whyKept({ root, openedNs, all, repositories, lost: planted.lost() });
        return revert(changes, { root, shadowDir, snapshot, closed: tree.closed, whyKept: isKept });
      }),

    writerOf: (path) => snapshot.writerOf(path),
    hidden: () => snapshot.hidden,
    exposed: () => snapshot.exposed,
    removedGitDirs: () => planted.removed,
    gitDirsInDoubt: () => planted.inDoubt,
    repositoriesAround: (paths, added = []) => repositoriesIn(parts, paths, added),

    async ignoredWrites() {
      return (await (ignored ?? lookAtIgnored())).names.list();
    },

    async ignoredChanges() {
      ignored = lookAtIgnored();
      const { writes, isWhole } = await ignored;
      if (!isWhole) ignored = null;
      return writes.writes(tree, base.objectFormat);
    },

    exceeded: () => budget.exceeded,
    nestedChanges: () => inTurn(() => nestedChanges(parts.beside)),

    warnings() {
      const all = [...leftOutWarning(budget.leftOut), ...tree.setIds.warnings(), ...warnings];
      const rest = all.length - MAX_WARNINGS;
      return rest > 0
        ? [
            ...all.slice(0, MAX_WARNINGS),
            warning('WARN_MORE_ABOUT_FILES', `${rest} more warnings about files.`),
          ]
        : all;
    },

    async rebase(changes) {
      const index = new ScratchIndex(shadowDir, BASE_INDEX);
      await index.readTree(base.tree);
      const tree = await index.editedTree(changes.map(({ path, after }) => ({ path, state: after })));
      base = { ...base, tree, dirty: true };
      snapshot.rebase(changes);
    },

    async uncommitted(net) {
      if (!base.dirty) return null;
      const { makeUncommittedPatch } = await import('./kept/uncommitted-patch.ts');
      return inTurn(() => makeUncommittedPatch(shadowDir, base, net));
    },

    async keepEssentials(changes, read) {
      const { keepEssentials } = await import('./kept/essentials.ts');
      await keeping;
      const hasWholeBase = keeping !== null;
      return inTurn(() => keepEssentials({ shadowDir, base, changes, read, hasWholeBase }));
    },

    async makePatch(net) {
      // Both read the same objects; neither waits for the other.
      const [made] = await Promise.all([inTurn(() => makeProvenPatch(shadowDir, base, net)), keeping]);
      return made;
    },
  };
}

/** Returns a function that starts a piece of work when the previous one has ended, whether or not it succeeded. */
function oneByOne(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

async function keepBase(
  { checkout, shadowDir, warnings }: WorkspaceParts,
  { tree }: BaseRevision,
): Promise<void> {
  const failure = await keepTree(shadowDir, tree, checkout.objects);
  if (failure !== null)
    warnings.add(
      warning('WARN_BASE_NOT_KEPT', `The run cannot be replayed without this checkout: ${failure}.`),
    );
}

async function repositoriesIn(
  { checkout, tree }: WorkspaceParts,
  paths: readonly string[],
  added: readonly string[],
): Promise<string[]> {
  const repositories = (view: TreeView) =>
    repositoriesAround(paths, (folder) => {
      const listing = tree.closed.insist(folder, () => view.listFolder(folder));
      const there = listing.status === 'seen' ? listing.entries.map(({ name }) => name) : [];
      const from = folder === '' ? 0 : folder.length + 1;
      const below = added.filter((path) => path.startsWith(folder === '' ? '' : `${folder}/`));
      return [...there, ...below.map((path) => path.slice(from).split('/', 1)[0] ?? '')];
    });
  return viewing(checkout.root, repositories, tree.folders);
}

/** One warning, or none. */
function leftOutWarning(paths: readonly string[]): Warning[] {
  if (paths.length === 0) return [];
  return [
    warning(
      'WARN_OVER_LIMIT',
      `Changed, but not in the patch because it is over the limit: ${listed(paths.map(quotedName), 5)}.`,
    ),
  ];
}
