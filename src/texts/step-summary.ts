/** The summary of a step: the outcome first, then the facts behind it. */

import { code, escaped, pathCode } from '../domain/github/publishing/markdown.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import type { FoundSecret } from '../domain/secrets/secret-scan.ts';
import { bullets } from './bounded-list.ts';
import {
  attemptsLine,
  factsLine,
  modelLine,
  paragraphs,
  ROOM,
  sectionsOf,
  titled,
  warningList,
} from './run-parts.ts';

/** The facts that a step knows in addition to the result of its run. */
export interface StepFacts {
  /** The outcome of the whole step. */
  readonly outcome: RunOutcome;
  readonly pullRequest: Pick<NonNullable<Publication['pullRequest']>, 'number' | 'url' | 'draft'> | null;
  /** Those of the publication; the run's own are in its result. */
  readonly warnings: readonly string[];
}

/**
 * How often the room of a body: at three bytes per character the parts stay below 1 MiB, which is all that GitHub accepts from
 * one step, so that other steps and other runs of a matrix do not matter.
 */
const SCALE = 5;

/** Returns Markdown. `result` contains no secrets; null if there was no run. */
export function stepSummary(result: RunResult | null, { outcome, pullRequest, warnings }: StepFacts): string {
  const { name, exitCode, errorCode, reason } = outcome;
  const hasRun = result !== null && result.plan !== null;
  const text = paragraphs([
    `### patchsmith: ${name} (exit ${exitCode})${errorCode === null ? '' : ` [${errorCode}]`}`,
    // The reason of a successful outcome says only that there is a pull request.
    pullRequest !== null && exitCode === 0 ? '' : escaped(reason, 4_000),
    pullRequest === null ? '' : pullRequestLine(pullRequest),
    ...(hasRun ? runParts(result) : []),
    titled('Warnings', warningList([...(result?.warnings ?? []), ...warnings], SCALE * ROOM.warnings)),
    hasRun ? closingLine(result) : '',
  ]);
  return `${text}\n`;
}

function runParts(result: RunResult): string[] {
  const { changedFiles, flags } = result;
  const attempts = attemptsLine(result);
  const sections = sectionsOf(result, flags, SCALE);
  const { account, verification, denied, review, secondLook, files } = sections;
  return [
    factsLine(result),
    attempts === '' ? '' : `Attempt ${attempts}`,
    verification,
    titled('Looks like a secret', secretList(result)),
    review,
    denied,
    secondLook,
    changedFiles.length === 0 ? '' : files,
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
