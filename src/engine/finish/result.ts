/** Builds `result.json` step by step, so that everything known so far can be written at any moment. */

import { type IgnoredFiles, inFewWords } from '../../domain/changes/ignored-files.ts';
import type { ChangeLedger } from '../../domain/changes/ledger.ts';
import { noUsage } from '../../domain/conversation/conversation.ts';
import type { Withheld } from '../../domain/run/decide-outcome.ts';
import type { BaseRevision, RunStarted } from '../../domain/run/events.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { RunState } from '../../domain/run/state.ts';
import type { FoundSecret } from '../../domain/secrets/secret-scan.ts';
import { listed } from '../../domain/text/words.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';

/** The result of a run when only its id is known. */
export function emptyResult(runId: string, version: string): RunResult {
  return {
    ...{ version: 1, runId, patchsmith: version, status: 'running' },
    ...{
      outcome: null,
      exitCode: null,
      reason: '',
      errorCode: null,
      superseded: [],
      summary: '',
      answer: null,
    },
    ...{ replayOf: null, workingDirectory: null },
    ...{ plan: null, followUp: null, principles: [], paths: null, provider: null, model: null, root: null },
    ...{ baseSha: null, baseBranch: null, baseTree: null, baseDirty: null, treeSha: null },
    ...{ patch: null, uncommittedPatch: null, changedFiles: [], provenance: null, flags: [], secrets: [] },
    ...{ unexplained: [], putBack: [], denied: [], deniedCount: 0, nestedChanges: [], removedGitDirs: [] },
    ...{ ignoredFiles: [], ignoredFileCount: 0, hiddenFiles: [], exposedFiles: [] },
    ...{ iterations: 0, compactions: [], failedCompactions: 0, models: [], review: null, attempts: null },
    ...{ tokens: noUsage, costUsd: 0, estimated: false, durations: { totalMs: 0, modelMs: 0 } },
    ...{
      setup: [],
      verify: [],
      verifyRounds: [],
      flaky: [],
      unverified: [],
      verifyIn: null,
      verifyBaseline: null,
      preexistingFailures: [],
      testProof: null,
    },
    ...{ sandbox: null, commandLimits: null, network: null, mcp: [], warnings: [] },
  };
}

/** The result of a command that was refused before there was a run; its `runId` is empty. */
export function refusedResult({ name, exitCode, reason, errorCode }: RunOutcome, version: string): RunResult {
  return { ...emptyResult('', version), status: 'finished', outcome: name, exitCode, reason, errorCode };
}

/** The part that is known before the first command runs. */
export function openedPart(
  start: Pick<
    RunStarted,
    | 'plan'
    | 'followUp'
    | 'paths'
    | 'workingDirectory'
    | 'principles'
    | 'provider'
    | 'model'
    | 'base'
    | 'sandbox'
  >,
): Partial<RunResult> {
  const { plan, followUp, paths, workingDirectory, principles, provider, model, base, sandbox } = start;
  return {
    plan,
    followUp,
    ...{ paths, workingDirectory },
    principles,
    provider,
    model,
    baseSha: base.commit,
    baseBranch: base.branch,
    ...baselinePart(base),
    sandbox,
  };
}

/** The part that is fixed when the run starts. */
export function startedPart(start: RunStarted): Partial<RunResult> {
  const { setup, verifyIn, verifyBaseline, replayOf = null } = start;
  return { ...openedPart(start), setup, verifyIn, verifyBaseline, replayOf };
}

/** The part that is known when the baseline is. */
export function baselinePart({ tree, dirty }: BaseRevision): Partial<RunResult> {
  return { baseTree: tree, baseDirty: dirty };
}

/** Warnings about changes that are not in the patch, or should not be in it. */
export function closingWarnings(
  { putBack, stuck, hidden, changes }: RunState,
  ignored: IgnoredFiles,
  exposed: readonly string[],
): Warning[] {
  const unexplained = changes.unexplained().map(({ path, by }) => `${path} (${by})`);
  return [
    ...naming(
      'WARN_PUT_BACK',
      [...putBack.keys()].sort(),
      (paths) => `Commands changed paths that must not change; reverted: ${paths}.`,
    ),
    ...[...stuck]
      .slice(0, MAX_NAMED)
      .map(([path, why]) =>
        warning('WARN_NOT_PUT_BACK', `${path} must not change and cannot be reverted: ${why}`),
      ),
    ...naming(
      'WARN_MAY_HAVE_CHANGED',
      [...hidden].sort(),
      (paths) => `Could not be examined, so they may have changed: ${paths}.`,
    ),
    ...naming(
      'WARN_MADE_BY_OTHERS',
      unexplained,
      (paths) => `Not in the patch, because no tool call made them: ${paths}.`,
    ),
    ...naming(
      'WARN_HIDDEN_SINCE',
      changes.hidden(),
      (paths) => `Made by the run, and since hidden by ignore rules: ${paths}.`,
    ),
    ...naming(
      'WARN_TAKEN_WHOLE',
      takenWhole(changes),
      (paths) =>
        `In the patch with all their contents, because git ignored them when the run started: ${paths}.`,
    ),
    ...naming(
      'WARN_NO_LONGER_IGNORED',
      exposed,
      (paths) =>
        `No longer ignored, and not in the patch, because the run did not change them: ${paths}. Check them before you add files to git.`,
    ),
    ...(ignored.count > 0
      ? [
          warning(
            'WARN_IGNORED_CHANGES',
            `Not in the patch, because ignore rules or git leave them out: ${ignored.count} ${ignored.count === 1 ? 'file or folder' : 'files and folders'} (${listed(inFewWords(ignored.paths), MAX_NAMED)}).`,
          ),
        ]
      : []),
  ];
}

/** A warning that names some paths, or none. */
function naming(
  code: Parameters<typeof warning>[0],
  paths: readonly string[],
  say: (paths: string) => string,
): Warning[] {
  return paths.length === 0 ? [] : [warning(code, say(listed(paths, MAX_NAMED)))];
}

/** Files that are in the patch as a whole: they may have had unknown contents before the run. */
function takenWhole(changes: ChangeLedger): string[] {
  const unknown = new Set(
    changes.history.flatMap(({ path, ignored }) => (ignored === 'until_now' ? [path] : [])),
  );
  return changes.net().flatMap(({ path }) => (unknown.has(path) ? [path] : []));
}

/** Maximum number of names in one sentence. */
const MAX_NAMED = 5;

/** Why a patch that adds these secrets is withheld; null when there are none. */
export function withheldReason(secrets: readonly FoundSecret[]): Withheld | null {
  if (secrets.length === 0) return null;
  const places = secrets.map(({ path, line, what }) => `${line > 0 ? `${path}:${line}` : path} (${what})`);
  return {
    code: 'ERR_SECRET_IN_PATCH',
    reason: `The patch is withheld because it would add a secret: ${listed(places, MAX_NAMED, 'place')}. Remove the secret, or accept files with false matches with --accept-secrets GLOB.`,
  };
}

/**
 * Why a patch that creates or changes these folders, which git takes for repositories, is withheld; null when there are
 * none.
 */
export function repositoriesReason(folders: readonly string[]): Withheld | null {
  if (folders.length === 0) return null;
  const named = listed(
    folders.map((folder) => folder || 'the root'),
    MAX_NAMED,
  );
  return {
    code: 'ERR_REPOSITORY_IN_PATCH',
    reason: `The patch is withheld because it adds to a folder that git treats as a repository, whose configuration can name programs that git runs: ${named}. Let tests create such a repository when they run, or commit it by hand.`,
  };
}
