/** The result of a run of which nothing is known yet. Every start loads it, so it knows nothing of journals. */

import { noUsage } from '../../domain/conversation/conversation.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';

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
