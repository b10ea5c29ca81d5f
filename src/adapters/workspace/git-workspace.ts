/** The workspace over a git checkout: the work tree as git sees it, its shadow repository, and the patch. Created by open.ts. */

import { quotedName } from '../../domain/changes/path.ts';
import { machineFault } from '../../domain/errors/thrown.ts';
import { repositoriesAround } from '../../domain/review/git-folder.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { type TreeView, viewing } from '../../files/tree-view.ts';
import { ScratchIndex } from '../../git/store/trees.ts';
import type { PatchResult, SandboxGitDir, Workspace } from '../../ports/workspace.ts';
import { packTree } from './kept/base-copy.ts';
import { goneIgnored, settleFiles } from './kept/kept-files.ts';
import { makeUncommittedPatch } from './kept/uncommitted.ts';
import { makeProvenPatch } from './patch.ts';
import type { WorkTreeParts } from './tree/parts.ts';
import type { WorkTree } from './tree/work-tree.ts';
import { ignoredChanges, keepBeginning, nestedChanges } from './unwalked/unseen-changes.ts';
import { workTreeFiles } from './work-tree-files.ts';

/** Maximum number of warnings; a hostile tree could cause thousands. */
const MAX_WARNINGS = 50;

interface WorkspaceParts {
  readonly base: BaseRevision;
  readonly sandboxGitDir: SandboxGitDir;
  readonly parts: WorkTreeParts;
  readonly tree: WorkTree;
  /** Folders of other repositories that were there when the run began. */
  readonly foreign: readonly string[];
  /** The file system's time when the run opened this work tree, in ns. */
  readonly openedNs: bigint;
  readonly warnings: Set<Warning>;
  /** The whole base is stored with the run. */
  readonly keepsBase: boolean;
}

/** Captures, patches and anything else that looks at the whole tree run one at a time, in the order requested. */
export function openGitWorkspace(opened: WorkspaceParts): Workspace {
  const { parts, tree, foreign, openedNs, warnings } = opened;
  const { root, shadowDir } = parts.git;
  const { objectFormat } = opened.base;
  const { planted, hidden, budget } = parts;
  const inTurn = oneByOne();
  const over = async () => {
    const befores = await tree.seen.statesOf(budget.leftOut);
    return budget.leftOut.map((path) => ({ path, before: befores.get(path) ?? null }));
  };
  let { base } = opened;
  return {
    root,
    sandboxGitDir: opened.sandboxGitDir,
    base: () => base,
    ...workTreeFiles({ root, shadowDir, tree }, objectFormat),
    capture(scope) {
      return inTurn(() => {
        // Commands follow, which may write to files that git ignores.
        if (scope === 'all') keepBeginning(shadowDir);
        return tree.look(scope);
      });
    },
    putBack: (changes, all) => inTurn(() => putBack(opened, changes, all)),
    repositoriesAround: (paths, added = []) => repositoriesIn(opened, paths, added),
    sweep: () => inTurn(() => tree.sweep()),
    ignoredWrites: () =>
      inTurn(() =>
        ignoredChanges({
          ...{ folders: planted.folders, shadowDir, warnings, gone: goneIgnored(root, shadowDir) },
          ignored: () => parts.git.ignored(),
        }),
      ),
    nestedChanges: () =>
      inTurn(() =>
        nestedChanges(planted.folders, shadowDir, { there: foreign, absent: tree.seen.submodules, openedNs }),
      ),
    notes: () => ({
      hidden: tree.hidden,
      exposed: hidden.exposed(),
      removedGitDirs: planted.removed,
      gitDirsInDoubt: planted.inDoubt,
      exceeded: budget.exceeded,
      warnings: atMost(MAX_WARNINGS, [...leftOutWarning(budget.leftOut), ...warnings]),
    }),
    async rebase(changes) {
      const index = new ScratchIndex(shadowDir, 'base.index');
      await index.readTree(base.tree);
      const edited = await index.editedTree(changes.map(({ path, after }) => ({ path, state: after })));
      base = { ...base, tree: edited, dirty: true };
      tree.seen.rebase(changes);
    },
    uncommitted: async (net) =>
      base.dirty ? inTurn(() => makeUncommittedPatch(shadowDir, base, net)) : null,
    settleFiles: () =>
      inTurn(async () => settleFiles({ root, shadowDir, format: objectFormat }, await over())),
    keepEssentials: (changes) =>
      inTurn(async () => {
        const { keepEssentials } = await import('./kept/uncommitted.ts');
        if (opened.keepsBase) {
          const why = await packTree(shadowDir, base.tree, shadowDir);
          if (why !== null) warnings.add(notKept(why));
        }
        const all = [...changes, ...(await over()).map((one) => ({ ...one, after: null }))];
        return keepEssentials({ shadowDir, base, changes: all, hasWholeBase: opened.keepsBase });
      }),
    makePatch: (net) =>
      inTurn(() => makeProvenPatch(shadowDir, base, net, tree.seen.basePaths()).catch(ofBrokenMachine)),
  };
}

/** A broken machine is a reason for having no patch. Anything else that is thrown is a bug. */
function ofBrokenMachine(error: unknown): PatchResult {
  const fault = machineFault(error);
  if (fault === null) throw error;
  return { status: 'failed', message: `The patch cannot be made: ${fault}.` };
}

function notKept(why: string): Warning {
  return warning('WARN_BASE_NOT_KEPT', `The run cannot be replayed without this checkout: ${why}.`);
}

async function putBack(
  opened: WorkspaceParts,
  ...[changes, all]: Parameters<Workspace['putBack']>
): ReturnType<Workspace['putBack']> {
  const { parts, tree, openedNs } = opened;
  const { root, shadowDir } = parts.git;
  // Few runs need to put anything back.
  const { revert, whyKept } = await import('./restore/revert.ts');
  const paths = changes.map(({ path }) => path);
  const repositories = await repositoriesIn(opened, paths, []);
  const isKept = whyKept({
    ...{ root, openedNs, all, repositories, lost: parts.planted.lost() },
    gone: goneIgnored(root, shadowDir),
  });
  const { closed, fileMode } = parts;
  return revert(changes, {
    ...{ root, shadowDir, closed, fileMode },
    look: () => tree.look('after_commands'),
    whyKept: isKept,
  });
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

async function repositoriesIn(
  { parts }: WorkspaceParts,
  paths: readonly string[],
  added: readonly string[],
): Promise<string[]> {
  const repositories = (view: TreeView) =>
    repositoriesAround(paths, (folder) => {
      const listing = view.listFolder(folder);
      const there = listing.status === 'seen' ? listing.entries.map(({ name }) => name) : [];
      const from = folder === '' ? 0 : folder.length + 1;
      const below = added.filter((path) => path.startsWith(folder === '' ? '' : `${folder}/`));
      return [...there, ...below.map((path) => path.slice(from).split('/', 1)[0] ?? '')];
    });
  return viewing(parts.git.root, repositories, parts.budget.folders);
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

function atMost(most: number, all: readonly Warning[]): Warning[] {
  const rest = all.length - most;
  return rest > 0
    ? [...all.slice(0, most), warning('WARN_MORE_ABOUT_FILES', `${rest} more warnings about files.`)]
    : [...all];
}
