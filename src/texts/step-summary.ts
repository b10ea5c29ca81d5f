/** The summary of a step: the outcome first, then the facts behind it. */

import { code, escaped, pathCode } from '../domain/github/publishing/markdown.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import type { FoundSecret } from '../domain/secrets/secret-scan.ts';
import { bullets, filesTable } from './bounded-list.ts';
import { attemptsLine, factsLine, folded, modelLine, sectionsOf, titled, warningList } from './run-parts.ts';

/** The facts that a step knows in addition to the result of its run. */
export interface StepFacts {
  /** The outcome of the whole step. */
  readonly outcome: RunOutcome;
  readonly pullRequest: { readonly number: number; readonly url: string; readonly draft: boolean } | null;
  /** Those of the publication; the run's own are in its result. */
  readonly warnings: readonly string[];
}

/**
 * Maximum characters of the parts that grow with the run: at three bytes per character they stay below 1 MiB, which is all
 * that GitHub accepts from one step, so that other steps and other runs of a matrix do not matter.
 */
const ROOM = {
  account: 20_000,
  verify: 20_000,
  output: 120_000,
  flags: 20_000,
  denied: 20_000,
  review: 20_000,
  files: 60_000,
  warnings: 20_000,
};

/** Returns Markdown. `result` contains no secrets; null if there was no run. */
export function stepSummary(result: RunResult | null, { outcome, pullRequest, warnings }: StepFacts): string {
  const parts = [
    `### patchsmith: ${outcome.name} (exit ${outcome.exitCode})${outcome.errorCode === null ? '' : ` [${outcome.errorCode}]`}`,
    // The reason of a successful outcome says only that there is a pull request.
    ...(pullRequest !== null && outcome.exitCode === 0 ? [] : [escaped(outcome.reason, 4_000)]),
    ...(pullRequest === null ? [] : [pullRequestLine(pullRequest)]),
    ...(result === null || result.plan === null ? [] : runParts(result)),
    titled('Warnings', warningList([...(result?.warnings ?? []), ...warnings], ROOM.warnings)),
    ...(result === null || result.plan === null ? [] : [closingLine(result)]),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function runParts(result: RunResult): string[] {
  const { changedFiles, flags } = result;
  const attempts = attemptsLine(result);
  const { account, verification, denied, review, secondLook } = sectionsOf(result, flags, ROOM);
  return [
    factsLine(result),
    attempts === '' ? '' : `Attempt ${attempts}`,
    verification,
    titled('Looks like a secret', secretList(result)),
    review,
    denied,
    secondLook,
    changedFiles.length === 0
      ? ''
      : folded('Changed files, and what made them', filesTable(result, ROOM.files)),
    account,
  ];
}

/** Only the locations, never the secrets. */
function secretList({ secrets }: RunResult): string {
  const lineOf = ({ path, line, what }: FoundSecret) => {
    const place = line > 0 ? `${pathCode(path)}, line ${line}` : pathCode(path);
    return `${place}: ${escaped(what, 200)}`;
  };
  return bullets(secrets, lineOf, { maxLength: 10_000, maxLines: 50, noun: 'place' });
}

function pullRequestLine({ number, url, draft }: NonNullable<StepFacts['pullRequest']>): string {
  return `**Pull request${draft ? ' (draft)' : ''}: [#${number}](${url})**`;
}

function closingLine(result: RunResult): string {
  const patch = result.patch === null ? 'no patch' : `patch sha256 ${code(result.patch.sha256)}`;
  const base = result.baseSha === null ? '' : ` on base ${code(result.baseSha.slice(0, 12))}`;
  return `<sub>${modelLine(result)} · ${patch}${base} · run ${code(result.runId)}</sub>`;
}
