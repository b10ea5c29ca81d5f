/** What a step shows of its run: a summary, with the outcome first, and annotations at lines of files. */

import { describeEnd } from '../domain/conversation/tool.ts';
import { placeOf } from '../domain/findings/review.ts';
import { code, escaped, pathCode } from '../domain/github/publishing/markdown.ts';
import type { Publication } from '../domain/github/publishing/publication.ts';
import { FLAGS } from '../domain/review/flag.ts';
import type { CommandReport } from '../domain/run/events.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { RunResult } from '../domain/run/result.ts';
import { judgeReports } from '../domain/run/verify-baseline.ts';
import type { FoundSecret } from '../domain/secrets/secret-scan.ts';
import { shortened } from '../domain/text/shorten.ts';
import { withinLine } from '../domain/text/terminal.ts';
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

/** A message to the runner that may point to a line of a file. */
export interface Annotation {
  readonly level: 'error' | 'warning' | 'notice';
  /** Text without line breaks, at most 200 characters. */
  readonly title: string;
  readonly message: string;
  /** A path in the repository; null if it concerns no file. */
  readonly file: string | null;
  /** Counted from 1; null for the whole file. */
  readonly line: number | null;
}

/** GitHub shows at most this many per step. */
const MAX_OF_LEVEL = 10;

/**
 * At most ten of each level. `result` contains no secrets; null if there was no run. `outcome` is that of the whole step: if it
 * failed, its reason is a separate annotation.
 */
export function annotationsOf(result: RunResult | null, outcome: RunOutcome): Annotation[] {
  const ended: Annotation = { ...NOWHERE, level: 'error', title: titleOf(outcome), message: outcome.reason };
  const all = [
    ...(outcome.exitCode === 0 ? [] : [ended]),
    ...(result === null ? [] : annotationsInRun(result)),
  ];
  return (['error', 'warning', 'notice'] as const).flatMap((level) => {
    const these = all.filter((one) => one.level === level);
    if (these.length <= MAX_OF_LEVEL) return these;
    const message = `${these.length - (MAX_OF_LEVEL - 1)} more; see the summary of the step.`;
    return [...these.slice(0, MAX_OF_LEVEL - 1), { ...NOWHERE, level, title: 'And more', message }];
  });
}

/** `usage_error [ERR_NO_TASK]`. */
function titleOf({ name, errorCode }: RunOutcome): string {
  return errorCode === null ? name : `${name} [${errorCode}]`;
}

/** A log line that a runner interprets: `::error file=a.ts,line=3,title=npm test::message`. */
export function annotationLine({ level, title, message, file, line }: Annotation): string {
  // An unusual name would be displayed as a different one.
  const place = file !== null && withinLine(file) === file && !/\p{Cs}/u.test(file) ? file : null;
  const properties = [
    ...(place === null ? [] : [`file=${property(place)}`]),
    ...(place === null || line === null ? [] : [`line=${line}`]),
    `title=${property(shortened(withinLine(title), 200))}`,
  ];
  const lines = message
    .split(/\r\n|\n|\r/)
    .map(withinLine)
    .join('\n');
  return `::${level} ${properties.join(',')}::${data(shortened(lines, 2_000))}`;
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

const NOWHERE = { file: null, line: null } as const;

function annotationsInRun(result: RunResult): Annotation[] {
  const { secrets, putBack, review, flags, changedFiles } = result;
  // A deleted file has no lines to annotate.
  const paths = new Set(changedFiles.flatMap(({ kind, path }) => (kind === 'delete' ? [] : [path])));
  return [
    // Only the locations, never the secrets.
    ...secrets.map(({ path, line, what }) => ({
      level: 'error' as const,
      title: 'Looks like a secret',
      message: `The patch would add what looks like a secret here (${what}); it is withheld unless that is accepted.`,
      file: path,
      line: line > 0 ? line : null,
    })),
    ...failuresOf(result, paths),
    ...putBack.map(({ path }) => ({
      level: 'warning' as const,
      title: 'Not allowed to change',
      message: `${path} was changed by commands and reverted, because it must not change.`,
      file: path,
      line: null,
    })),
    // A file that the patch does not change is named in the message alone.
    ...(review?.findings ?? []).map(({ severity, path, line, problem }) => ({
      level: severity === 'blocking' ? ('warning' as const) : ('notice' as const),
      title: severity === 'blocking' ? 'Review: blocking' : 'Review',
      ...(paths.has(path)
        ? { file: path, line, message: problem }
        : { ...NOWHERE, message: `${placeOf({ path, line })}: ${problem}` }),
    })),
    ...flags.map(({ path, flag, detail }) => ({
      level: 'warning' as const,
      title: 'Worth a second look',
      message: `${path} ${FLAGS[flag]}${detail === '' ? '' : ` (${detail})`}`,
      file: path,
      line: null,
    })),
  ];
}

/** One for the command if its output names no changed file, otherwise one for each place it names. */
function failuresOf({ verify, verifyBaseline }: RunResult, paths: ReadonlySet<string>): Annotation[] {
  const { failed, preexisting } = judgeReports(verify, verifyBaseline);
  return [
    ...failed.flatMap((report) => {
      const places = placesIn(report.output, paths);
      return (places.length === 0 ? [{}] : places).map((place) => ({ ...failure(report), ...place }));
    }),
    ...preexisting.map((report) => ({
      ...failure(report),
      level: 'warning' as const,
      message: `${describeEnd(report.end)}, as before the work`,
    })),
  ];
}

function failure({ command, end, output }: CommandReport): Annotation {
  const last = output.trim().split('\n').at(-1)?.trim() ?? '';
  const message = last === '' ? describeEnd(end) : `${describeEnd(end)}: ${last}`;
  return { ...NOWHERE, level: 'error', title: `Failed: ${command}`, message };
}

/** Maximum number of places per command: the rest is in its output. */
const MAX_PLACES = 3;

/**
 * `src/a.ts:3:8: error …`, `src/a.ts(3,8): error …`, `File "src/a.py", line 3`: only if the name is exactly that of a
 * changed file, so that no unrelated line is blamed. The message is the line of the output.
 */
function placesIn(
  output: string,
  paths: ReadonlySet<string>,
): { file: string; line: number; message: string }[] {
  const found = new Map<string, { file: string; line: number; message: string }>();
  for (const text of output.split(/\r\n|\n|\r/)) {
    const shown = text.slice(0, 1_000).replace(COLOUR, '').trim();
    for (const [, bare, inQuotes, line, lineInWords] of shown.matchAll(PLACE)) {
      const file = (bare ?? inQuotes ?? '').replace(/^(?:\.\/)+/, '');
      const at = Number(line ?? lineInWords);
      const key = `${file}:${at}`;
      if (at > 0 && paths.has(file) && !found.has(key)) found.set(key, { file, line: at, message: shown });
      if (found.size === MAX_PLACES) return [...found.values()];
    }
  }
  return [...found.values()];
}

const PLACE = /(?:(?<![^\s:()"'`])([^\s:()"'`]+)|"([^"]+)")(?:[:(](\d{1,7})\b|, line (\d{1,7})\b)/g;
const COLOUR = /\u001b\[[0-9;?]*[A-Za-z]/g;
