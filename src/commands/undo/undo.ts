/** `patchsmith undo`: restores the work tree to its state before a run, except for files that have changed since. */

import { readJournal, stateAfter } from '../../adapters/storage/read-journal.ts';
import { readResult } from '../../adapters/storage/read-result.ts';
import { lockRun, lockWorkTree, runIsBusy, treeIsBusy } from '../../adapters/storage/run-lock.ts';
import { findCheckout } from '../../adapters/workspace/find-checkout.ts';
import {
  type GonePath,
  goneIgnored,
  type KeptFiles,
  keptFiles,
} from '../../adapters/workspace/kept/kept-files.ts';
import { openRestorer, type Restorer } from '../../adapters/workspace/restore/restore.ts';
import { whyKept } from '../../adapters/workspace/restore/revert.ts';
import { readRunStart } from '../../adapters/workspace/run-start.ts';
import { beganIn } from '../../adapters/workspace/unwalked/planted-git.ts';
import { type CodeChange, deletionsFirst, type PathChange } from '../../domain/changes/change.ts';
import { absolutePath, isWithin } from '../../domain/changes/path.ts';
import { laneOf } from '../../domain/conversation/tool.ts';
import type { Environment } from '../../domain/environment.ts';
import {
  type FoldedEvents,
  type UndoPlan,
  type UndoStep,
  undoPlan,
} from '../../domain/journal/recorded-changes.ts';
import { done, internalError, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { ClosedPlaces } from '../../files/closed-places.ts';
import { makeTemporaryFolder } from '../../files/replace-file.ts';
import { lookAt } from '../../files/tree-view.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { differingPaths } from '../../git/revision.ts';
import { openKeptObjects } from '../../git/store/bare-repository.ts';
import { ObjectStore } from '../../git/store/object-store.ts';
import { readUserSettings } from '../../git/user-settings.ts';
import { runOf, type Work, working } from '../work.ts';
import { unrecordedChanges } from './unrecorded-changes.ts';

/**
 * A step and the current state of its path: yet to be undone, undone already, better left alone, as a commit made since the run
 * has it, or not undoable.
 */
type Judged =
  | { step: UndoStep; status: 'due' }
  | { step: UndoStep; status: 'left' | 'committed' }
  | { step: PathChange; status: 'undone' }
  | { step: PathChange; status: 'stuck'; why: string };

/** Changes nothing of HEAD, index and refs. With `--force`, restores what can be restored, and leaves the paths that have changed since. */
export const startUndo = working(undoRun);

async function undoRun(work: Work): Promise<RunOutcome> {
  const { cwd, env, settings, say } = work;
  const { repo } = settings;
  const force = work.switches.has('force');
  const found = await runOf(work);
  if (found.status === 'failed') return found.outcome;
  const { directory } = found;
  const read = await readJournal(directory.events);
  if (read.status === 'failed') return usageError('ERR_JOURNAL_UNREADABLE', read.message);
  const checkout = await findCheckout(repo === null ? cwd : absolutePath(cwd, repo), env);
  if (checkout.status === 'failed') return usageError('ERR_NO_CHECKOUT', checkout.message);
  const { root } = checkout.checkout;
  const run = { events: read.events, state: await stateAfter(read.events) };
  const [started] = run.events;
  if (repo === null && started.root !== root) {
    return usageError(
      'ERR_OTHER_CHECKOUT',
      `The run worked in ${started.root}, not in ${root}. Name the checkout with --repo.`,
    );
  }
  const letGo = await lockRun(directory.path);
  if (letGo === null) return usageError('ERR_RUN_BUSY', runIsBusy(directory.path));
  const letGoOfTree = await lockWorkTree(checkout.checkout);
  if (letGoOfTree === null) {
    letGo();
    return usageError('ERR_WORK_TREE_BUSY', treeIsBusy(root));
  }
  const folder = makeTemporaryFolder(env);
  try {
    const { shadowGit: shadowDir } = directory;
    const { objects, objectFormat } = checkout.checkout;
    const gitDir = `${folder.path}/objects.git`;
    const objectsGitDir = openKeptObjects({ shadowDir, objectFormat, objects, gitDir });
    const isNamed = repo !== null;
    const kept = keptFiles(root, shadowDir, isNamed);
    if (kept.status === 'failed') return usageError('ERR_RUN_NOT_FOUND', kept.message);
    const store = new ObjectStore(gitDir, objectFormat);
    for (const { bytes } of kept.files) store.write(Buffer.from(bytes, 'base64'), null);
    const began = readRunStart(shadowDir);
    const closed = new ClosedPlaces(root, say);
    // What was closed when the run began stays closed.
    closed.begin(began.status === 'ok' ? began.start.openedNs : 0n);
    const { fileMode } = await readUserSettings(root, env);
    const restorer = openRestorer({ root, shadowDir, objectsGitDir, closed, fileMode });
    const result = readResult(directory);
    const { refusal, gone, unrecorded } = await unrecordedChanges(run, directory, {
      checkout: checkout.checkout,
      env,
      hasDied: diedAtWork(run, result),
    });
    if (refusal !== null && !force) return usageError('ERR_UNDO_CONFLICT', refusal);
    return await takeBack(say, run, {
      force,
      restorer,
      root,
      kept,
      gone,
      goneIgnored: goneIgnored(root, shadowDir, isNamed),
      committed: await committedSince(run, checkout.checkout, env),
      openedNs: began.status === 'ok' && beganIn(root, began.start) ? began.start.openedNs : 0n,
      unrecorded,
      result,
    });
  } finally {
    folder.remove();
    letGoOfTree();
    letGo();
  }
}

type Say = Work['say'];

interface Means {
  readonly force: boolean;
  readonly restorer: Restorer;
  readonly root: string;
  readonly kept: KeptFiles;
  readonly gone: readonly PathChange[];
  readonly goneIgnored: readonly GonePath[];
  /** What HEAD has where it differs from the base of the run: git's id, or null for a path that is gone. */
  readonly committed: ReadonlyMap<string, string | null>;
  /** When the run opened the work tree, in ns of its file system. */
  readonly openedNs: bigint;
  /** What a killed command or somebody since has made. */
  readonly unrecorded: readonly string[];
  /** That of the run; null if it has none. */
  readonly result: RunResult | null;
}

async function committedSince(
  { state: { base } }: FoldedEvents,
  checkout: Checkout,
  env: Environment,
): Promise<Means['committed']> {
  const { commit } = checkout.head;
  if (commit === null || commit === base.commit) return new Map();
  return differingPaths(checkout, { from: base.commit, to: commit }, env);
}

/** Nothing is written before every path has been judged. */
async function takeBack(say: Say, run: FoldedEvents, means: Means): Promise<RunOutcome> {
  const { events } = run;
  const { restorer, result } = means;
  const plan = undoPlan(events, means.kept.files, [...means.gone, ...means.kept.over]);
  const judged = await judge(plan, means, run.state.changes.history);
  const stuck = judged.flatMap((one) => (one.status === 'stuck' ? [`${one.step.path}: ${one.why}`] : []));
  for (const line of stuck.slice(0, MAX_LINES)) say(`  ${line}`);
  if (stuck.length > MAX_LINES) say(`  … and ${stuck.length - MAX_LINES} more`);
  if (stuck.length > 0 && !means.force) {
    const others = judged.some(({ status }) => status === 'due') ? '; --force restores the others' : '';
    return usageError(
      'ERR_UNDO_CONFLICT',
      `${pluralize(stuck.length, 'path')} cannot be restored: ${stuck[0]}. Nothing was changed${others}.`,
    );
  }
  const failed = await carryOut(judged, restorer);
  for (const [path, why] of failed) say(`  ${path}: ${why}`);
  tellWhatStays(plan, { run, means, judged }, say);
  const lost = [
    ...failed.keys(),
    ...stepsOf(judged, 'left').flatMap(({ path, before }) => (before === null ? [] : [path])),
    ...means.kept.unkept.map(({ path }) => path),
    ...means.unrecorded,
    ...(result?.nestedChanges ?? []).map(({ path }) => `${path}/ (a repository of its own)`),
  ];
  return summary(
    judged.filter(({ step }) => !failed.has(step.path)),
    stuck,
    { lost, say },
  );
}

/** Maximum number of paths with a separate line, and of paths in one sentence. */
const MAX_LINES = 50;
const MAX_NAMED = 10;

async function judge(
  { steps, tangled, unsure }: UndoPlan,
  means: Means,
  history: readonly CodeChange[],
): Promise<Judged[]> {
  const { restorer, root, openedNs, goneIgnored, result } = means;
  await restorer.readAhead(steps.flatMap(({ before }) => (before ? [before] : [])));
  const stuck = (why: string) => (path: string) => ({
    step: { path, before: null, after: null },
    status: 'stuck' as const,
    why,
  });
  const judged: Judged[] = [
    ...tangled.map(stuck('something else changed it during the run')),
    ...unsure.map(stuck('it is over a limit of the run, which did not read it')),
  ];
  // What a command copies out of another repository, as mv does, shows only in a folder that has changed.
  const nested = (result?.nestedChanges ?? []).filter(({ files }) =>
    files.some((path) => isFolder(root, path)),
  );
  const goneNested = nested.map(({ path }) => ({ path: `${path}/…`, lost: 'unknown' as const }));
  const whyMoved = (gone: readonly GonePath[]) =>
    whyKept({ root, openedNs, all: steps, repositories: [], lost: null, gone });
  const byCommands = new Set(
    history.flatMap(({ path, source }) =>
      source.by === 'tool' && laneOf(source.tool) === 'write' ? [] : [path],
    ),
  );
  const [whyWritten, whyMade] = [whyMoved(goneIgnored), whyMoved([...goneIgnored, ...goneNested])];
  for (const step of steps) {
    const one = await judgeStep(step, means);
    const why = one.status === 'due' ? (byCommands.has(step.path) ? whyMade : whyWritten)(step) : null;
    judged.push(why === null ? one : { step, status: 'stuck', why });
  }
  return judged;
}

/** Also of a folder that is gone. */
function isFolder(root: string, path: string): boolean {
  const look = lookAt(root, path);
  return look.status === 'absent' || (look.status === 'seen' && look.stat.kind === 'folder');
}

async function judgeStep(step: UndoStep, { restorer, committed }: Means): Promise<Judged> {
  const { path, before, after, permissions } = step;
  // Nothing is lost where an ignored file is gone, however it went.
  const gone = permissions === undefined ? [] : [null];
  const now = await restorer.stateAmong(path, [after, before, ...gone]);
  if (now === undefined && step.mayStay) return { step, status: 'left' };
  if (now === undefined) return { step, status: 'stuck', why: 'it has changed since the run' };
  if (now === before) return { step, status: 'undone' };
  if (committed.has(path) && committed.get(path) === (after?.blob ?? null))
    return { step, status: 'committed' };
  const why = await restorer.whyNot(path, before);
  return why === null ? { step, status: 'due' } : { step, status: 'stuck', why };
}

function stepsOf(judged: readonly Judged[], status: 'due' | 'left' | 'committed'): UndoStep[] {
  return judged.flatMap((one) => (one.status === status ? [one.step] : []));
}

/** Paths that could not be restored, with the reasons. */
async function carryOut(judged: readonly Judged[], restorer: Restorer): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  for (const { path, before, permissions } of deletionsFirst(stepsOf(judged, 'due'), (step) => step.before)) {
    const failure = await restorer.put(path, before, permissions);
    if (failure !== null) failed.set(path, failure);
  }
  const failure = await restorer.putEmptyFolders();
  return failure === null ? failed : failed.set('empty folders', failure);
}

/** Whether the process died after the first call, and so before it could list changes where git does not look. */
function diedAtWork({ events }: Pick<FoldedEvents, 'events'>, result: RunResult | null): boolean {
  const hasDied = result?.status !== 'finished' || result.errorCode === 'ERR_PROCESS_DIED';
  return hasDied && events.some(({ type }) => type === 'tool.started');
}

function tellWhatStays(
  { steps, foreign, unknown, ignored }: UndoPlan,
  { run, means, judged }: { run: FoldedEvents; means: Means; judged: readonly Judged[] },
  say: Say,
): void {
  const { kept, result } = means;
  const isUndone = (path: string) =>
    [...steps, ...kept.files, ...kept.unkept].some((one) => one.path === path || isWithin(one.path, path));
  const listedThere = (result?.ignoredFiles ?? []).filter((path) => !isUndone(path.replace(/\/$/, '')));
  const left = [...new Set([...ignored, ...listedThere])].sort();
  if (left.length > 0) {
    const more = (result?.ignoredFileCount ?? 0) - (result?.ignoredFiles.length ?? 0);
    const others = more > 0 ? `; and ${pluralize(more, 'more file')} that the result does not name` : '';
    say(
      `Left as they are, because git does not track them and their earlier contents were not stored: ${listed(left, MAX_NAMED)}${others}.`,
    );
  }
  if (diedAtWork(run, result))
    say('Not checked: ignored files that commands wrote, since the run died before it listed them.');
  const stays = (why: string, paths: readonly string[]) =>
    paths.length > 0 && say(`Left as they are, because ${why}: ${listed(paths, MAX_NAMED)}.`);
  const pathsOf = (status: 'left' | 'committed') => stepsOf(judged, status).map(({ path }) => path);
  stays('git ignores them and they have changed since the run', pathsOf('left'));
  const earlier = result?.uncommittedPatch
    ? `, and ${result.uncommittedPatch.path} has your work from before`
    : '';
  stays(`they were committed since (git revert takes a commit back${earlier})`, pathsOf('committed'));
  stays('git ignored them when the run began and their contents were not stored', unknown);
  stays('something else changed them', foreign);
}

/** `lost` are files that the run has changed and that are not as before. */
function summary(
  judged: readonly Judged[],
  stuck: readonly string[],
  { lost, say }: { lost: readonly string[]; say: Say },
): RunOutcome {
  const due = stepsOf(judged, 'due');
  const ignored = due.flatMap(({ path, permissions }) => (permissions === undefined ? [] : [path]));
  if (ignored.length > 0) say(`Restored, though git ignores them: ${listed(ignored, MAX_LINES)}.`);
  const left = stuck.length > 0 ? `; ${pluralize(stuck.length, 'path')} left as listed above` : '';
  const restored = `${pluralize(due.length, 'file')} restored to the state before the run${left}.`;
  const named = lost.length > 0 ? ` Not restored: ${listed(lost, MAX_NAMED)}.` : '';
  if (stuck.length + lost.length > 0) return internalError('ERR_NOT_RESTORED', `${restored}${named}`);
  return due.length === 0 ? noChange('Nothing to restore.') : done(restored);
}
