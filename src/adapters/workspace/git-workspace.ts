/** The workspace over a git checkout: composition of walk, snapshot, shadow repository and patch. Created by open.ts. */

import { quotedName } from '../../domain/changes/path.ts';
import { repositoriesAround } from '../../domain/review/git-folder.ts';
import type { BaseRevision } from '../../domain/run/events.ts';
import { listed } from '../../domain/text/listed.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import { type TreeView, viewing } from '../../files/tree-view.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { SandboxGitDir, Workspace } from '../../ports/workspace.ts';
import { RunBase } from './kept/run-base.ts';
import type { ChangeBudget } from './snapshot/change-budget.ts';
import type { Snapshot } from './snapshot/snapshot.ts';
import type { WalkedTree } from './snapshot/walked-tree.ts';
import { keepBeginning } from './unwalked/ignored-changes.ts';
import { ignoredWrites } from './unwalked/ignored-look.ts';
import { type NestedFolders, nestedChanges } from './unwalked/nested-changes.ts';
import type { PlantedGit } from './unwalked/planted-git.ts';
import { sweepSetIds } from './unwalked/sweep-set-ids.ts';
import { workTreeFiles } from './work-tree-files.ts';

/** Maximum number of warnings; a hostile tree could cause thousands. */
const MAX_WARNINGS = 50;

interface WorkspaceParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly base: BaseRevision;
  readonly sandboxGitDir: SandboxGitDir;
  readonly tree: WalkedTree;
  readonly snapshot: Snapshot;
  readonly planted: PlantedGit;
  readonly beside: NestedFolders;
  readonly warnings: Set<Warning>;
  readonly budget: ChangeBudget;
  /** The whole base is stored with the run. */
  readonly keepsBase: boolean;
}

/** Captures, patches and anything else that reads the whole tree run one at a time, in the order requested. */
export function openGitWorkspace(parts: WorkspaceParts): Workspace {
  const { snapshot, tree, planted, warnings, budget } = parts;
  const { objectFormat } = parts.base;
  const inTurn = oneByOne();
  const base = new RunBase(parts);
  return {
    root: parts.checkout.root,
    sandboxGitDir: parts.sandboxGitDir,
    base: () => base.now,
    ...workTreeFiles(parts, objectFormat),
    capture(scope) {
      base.startKeeping();
      return inTurn(() => {
        if (scope === 'all') {
          keepBeginning(parts.shadowDir);
          snapshot.distrustTimes();
        }
        return snapshot.capture(scope);
      });
    },
    sweep: () =>
      inTurn(async () => {
        await snapshot.sweepGitDirs();
        await sweepSetIds(parts.checkout.root, tree.closed, tree.setIds);
      }),
    putBack: (changes, all) => inTurn(() => putBack(parts, changes, all)),
    repositoriesAround: (paths, added = []) => repositoriesIn(parts, paths, added),
    ignoredWrites: () => ignoredWrites({ ...parts, unwalked: planted.unwalked }),
    nestedChanges: () => inTurn(() => nestedChanges(parts.beside)),
    notes: () => ({
      hidden: snapshot.hidden,
      exposed: snapshot.exposed,
      removedGitDirs: [...planted.removed],
      gitDirsInDoubt: planted.inDoubt,
      exceeded: budget.exceeded,
      warnings: atMost(MAX_WARNINGS, [
        ...leftOutWarning(budget.leftOut),
        ...tree.setIds.warnings(),
        ...warnings,
      ]),
    }),
    async rebase(changes) {
      await base.rebase(changes);
      snapshot.rebase(changes);
    },
    uncommitted: async (net) => (base.now.dirty ? inTurn(() => base.uncommitted(net)) : null),
    async keepEssentials(changes, read) {
      await base.kept();
      return inTurn(() => base.keepEssentials(changes, read));
    },
    async makePatch(net) {
      // Both read the same objects; neither waits for the other.
      const [made] = await Promise.all([inTurn(() => base.makePatch(net)), base.kept()]);
      return made;
    },
  };
}

async function putBack(
  parts: WorkspaceParts,
  ...[changes, all]: Parameters<Workspace['putBack']>
): ReturnType<Workspace['putBack']> {
  const { checkout, shadowDir, snapshot, tree, planted, beside } = parts;
  const { root } = checkout;
  // Few runs need to put anything back.
  const { revert, whyKept } = await import('./restore/revert.ts');
  const { openedNs } = beside;
  const paths = changes.map(({ path }) => path);
  const repositories = await repositoriesIn(parts, paths, []);
  const isKept = whyKept({ root, openedNs, all, repositories, lost: planted.lost() });
  return revert(changes, { root, shadowDir, snapshot, closed: tree.closed, whyKept: isKept });
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

function atMost(most: number, all: readonly Warning[]): Warning[] {
  const rest = all.length - most;
  return rest > 0
    ? [...all.slice(0, most), warning('WARN_MORE_ABOUT_FILES', `${rest} more warnings about files.`)]
    : [...all];
}
