/**
 * The work of a check that the following run need not repeat: its setup commands, and the verify commands before the work. A run
 * uses it only if nothing that it could depend on has changed, and nothing that it left is missing.
 */

import { join } from 'node:path';
import { CACHE_PRESETS } from '../../adapters/sandboxes/caches/presets.ts';
import { machineState } from '../../adapters/sandboxes/visible/machine-state.ts';
import { type CheckedWorkKey, keepWork, keptWork } from '../../adapters/storage/checked-work.ts';
import type { Settings } from '../../config/schema.ts';
import type { PackageManager } from '../../domain/packages/package-manager.ts';
import { CutShort } from '../../domain/run/cut-short.ts';
import type { BaseRevision, CommandReport, RunStarted } from '../../domain/run/events.ts';
import { sha256Of } from '../../files/hash.ts';
import { readRegularFile } from '../../files/regular-file.ts';
import { timeoutSignal, until } from '../../files/time-limit.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { wantedCaches } from '../open/caches.ts';
import type { KnownEnds } from '../open/setup-commands.ts';
import type { Session } from '../session.ts';
import { folderState } from './folder-state.ts';

/** Everything opened so far. */
export interface ReuseParts {
  readonly task: { readonly plan: { readonly setup: readonly string[] }; readonly verify: readonly string[] };
  readonly checkout: Checkout;
  readonly workspace: Pick<Workspace, 'root' | 'sandboxGitDir'>;
  readonly opened: Pick<RunStarted, 'patchsmith' | 'sandbox'> & { base: BaseRevision };
}

/** The results of a check's commands. */
interface Reports {
  readonly setup: readonly CommandReport[];
  readonly verify: readonly CommandReport[];
}

/** Both ends of it: `known` for a run, `keep` for a check that found nothing wrong and changed nothing in git's view. */
export interface Reuse {
  known(): Promise<KnownEnds>;
  keep(reports: Reports): Promise<void>;
}

const NOTHING: KnownEnds = { setup: null, verify: null };

/** Begun before any command runs. */
export async function beginReuse(session: Session, beginning: ReuseParts): Promise<Reuse> {
  const { settings, env, now, isCheck = false } = session.input;
  const { workspace, checkout, opened, task } = beginning;
  const { progress, redact } = session;
  const hasSetup = task.plan.setup.length > 0;
  const sayLost = (reason: string) => {
    if (hasSetup) progress.note(`a run will repeat setup: ${reason}`);
  };
  const git = gitStateOf(workspace);
  const refusal = refusalOf(session, opened.sandbox);
  if (refusal !== null || git === null)
    return {
      known: async () => NOTHING,
      keep: async () => sayLost(refusal ?? 'part of the git directory cannot be read'),
    };
  const key = keyOf(session, beginning, git);
  const stateOfTree = (reports: Reports) =>
    stateIn(session, reports, () => folderState(workspace.root, ['.git']));
  const stateOfGit = () => stateIn(session, null, () => folderState(workspace.sandboxGitDir.gitDir));
  const gitBefore = isCheck ? await stateOfGit() : null;
  return {
    async known() {
      const kept = keptWork({ env, key, now: now() });
      if (kept === null) return NOTHING;
      const minutes = Math.round((now() - kept.at) / 60_000);
      const when = `patchsmith check left it ${minutes === 0 ? 'just now' : `${minutes} min ago`}`;
      const state = await stateOfTree({ ...kept, setup: kept.setup ?? [] });
      if (state !== kept.state) {
        progress.note(`the work tree is not as ${when}, so its commands run again`);
        return NOTHING;
      }
      if (kept.setup !== null || settings.verifyBaseline) progress.note(`before the work: as ${when}`);
      const marked = (report: CommandReport) => ({ ...report, checkedAt: kept.at });
      return { setup: kept.setup?.map(marked) ?? null, verify: kept.verify.map(marked) };
    },
    async keep({ setup, verify }) {
      const state = await stateOfTree({ setup, verify });
      if (state === null)
        return sayLost('the work tree has entries that cannot be examined, or too many to compare in time');
      const { caches } = await wantedCaches(session.input, checkout);
      const managers = caches === undefined ? [] : [...caches.named, ...caches.found];
      const isGitAsBefore = gitBefore !== null && gitBefore === (await stateOfGit());
      const lost = lostPartOf(settings, managers, isGitAsBefore);
      keepWork(
        { env, key, redact },
        { at: now(), state, setup: lost === null ? [...setup] : null, verify: [...verify] },
      );
      if (lost !== null) sayLost(lost);
      else if (hasSetup)
        progress.note('for an hour, a run that starts from the same state reuses what setup did');
    },
  };
}

/** Why nothing of the check is believed; null if there is no reason. */
function refusalOf({ input: { settings } }: Session, sandbox: RunStarted['sandbox']): string | null {
  if (settings.preflight === 'off') return 'nothing is kept with --preflight off';
  // What commands could have written is not believed.
  if (sandbox === 'none') return 'without a sandbox, commands may have changed more than the work tree';
  const writable = settings.mounts.find((mount) => mount.endsWith(':rw'));
  return writable === undefined ? null : `commands may have changed files in --mount ${writable}`;
}

/** Which part of what setup did ends with the check; null if all of it is in the work tree. */
function lostPartOf(
  { setupEnv, mounts }: Settings,
  managers: readonly PackageManager[],
  isGitAsBefore: boolean,
): string | null {
  if (setupEnv.length > 0) return 'it may depend on --setup-env';
  if (mounts.length > 0) return 'it may depend on --mount';
  const cached = managers.find((manager) => CACHE_PRESETS[manager].installsInto !== 'work tree');
  if (cached !== undefined)
    return `${cached} uses packages from its cache, and what setup adds there is gone after the check`;
  return isGitAsBefore ? null : 'commands wrote to their git directory, which is gone after the check';
}

/** Everything but the files of the work tree that the commands can depend on. */
function keyOf(
  { root, input }: Session,
  { task: { plan, verify }, opened: { patchsmith, sandbox, base } }: ReuseParts,
  git: string,
): CheckedWorkKey {
  const { mounts, caches, verifyIn, verifyTimeoutMs, allowedDomains, allowedPrivate } = input.settings;
  const { maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes, setupEnv } = input.settings;
  return {
    patchsmith,
    sandbox,
    ...{ root, commit: base.commit, tree: base.tree, git },
    ...{ setup: plan.setup, verify, verifyIn, setupEnv },
    ...{ mounts, caches, allowedDomains, allowedPrivate },
    ...{ maxProcesses, maxMemoryBytes, maxFileBytes, maxDiskBytes, verifyTimeoutMs },
    machine: machineState(input.env),
  };
}

/** Hashes of the files in the commands' git directory; null if they cannot be read. */
function gitStateOf({ sandboxGitDir }: Pick<Workspace, 'sandboxGitDir'>): string | null {
  const parts = GIT_FILES.map((name) => readRegularFile(join(sandboxGitDir.gitDir, name), MAX_GIT_BYTES));
  if (parts.some((part) => part.status === 'failed' && !part.missing)) return null;
  return parts.map((part) => (part.status === 'ok' ? sha256Of(part.bytes) : '')).join(' ');
}

const GIT_FILES = ['HEAD', 'config', 'index', 'packed-refs', 'shallow', 'info/exclude', 'info/attributes'];
const MAX_GIT_BYTES = 256_000_000;

/** Null if it cannot be determined in less time than the commands took. */
async function stateIn(
  { interrupt }: Session,
  reports: Reports | null,
  look: () => Promise<string | null>,
): Promise<string | null> {
  const ran = reports === null ? [] : [...reports.setup, ...reports.verify];
  const tookMs = ran.reduce((sum, { end }) => sum + end.durationMs, 0);
  const limit = timeoutSignal(Math.max(MIN_LOOK_MS, tookMs));
  return until(AbortSignal.any([interrupt, limit]), look).catch((error: unknown) => {
    if (error instanceof CutShort) return null;
    throw error;
  });
}

/** Also what a look takes at least that finds a busy machine. */
const MIN_LOOK_MS = 2_000;
