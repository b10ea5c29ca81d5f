/** Distinguishes failures of verify commands that existed before the run from new ones. */

import { type Excerpt, excerptLines, whole } from '../conversation/excerpt.ts';
import { succeeded } from '../conversation/tool.ts';
import { firstUnits } from '../text/shorten.ts';
import type { CommandReport, NamedFailures, VerifyRound } from './events.ts';

/**
 * The result of a verification, given how the same commands ended before the first turn; null when they were not run then.
 */
export function judgeReports(
  reports: readonly CommandReport[],
  baseline: readonly CommandReport[] | null,
): { failed: CommandReport[]; preexisting: CommandReport[] } {
  const failed: CommandReport[] = [];
  const preexisting: CommandReport[] = [];
  for (const report of reports) {
    if (succeeded(report.end)) continue;
    const before = baseline?.find(({ command }) => command === report.command);
    (before && failsAsBefore(before, report) ? preexisting : failed).push(report);
  }
  return { failed, preexisting };
}

/** Commands that failed and passed on the same files, in one round or in two: how they end is chance. */
export function flakyAmong(
  rounds: readonly VerifyRound[],
  baseline: readonly CommandReport[] | null,
): string[] {
  const all = [{ tree: null, reports: baseline ?? [] }, ...rounds];
  const isFlaky = ({ command, end, earlier }: CommandReport, { tree }: Pick<VerifyRound, 'tree'>) =>
    succeeded(end) &&
    (earlier !== undefined ||
      rounds.some(
        (other) =>
          tree !== null &&
          other.tree === tree &&
          other.reports.some((one) => one.command === command && !succeeded(one.end) && !one.end.interrupted),
      ));
  const flaky = all.flatMap((round) => round.reports.filter((report) => isFlaky(report, round)));
  return [...new Set(flaky.map(({ command }) => command))];
}

/**
 * A command fails as before when it ends the same way (exit code, signal, timeout) and its output names no failure that
 * it did not name then. Lines that speak of failures or begin with a place in a file are compared, and every line where
 * there was none of these, without what differs from run to run or moves with an edit (numbers outside of names,
 * addresses, temporary paths, colours): none may be new, none may come more often, and a number of failures ("3 failed") may not have grown.
 * Of a long output all that was captured is compared, not only what is shown. A program that was not found never fails as
 * before.
 */
function failsAsBefore(before: CommandReport, after: CommandReport): boolean {
  if (succeeded(before.end) || before.end.interrupted || after.end.interrupted) return false;
  if (wasNotRun(after.end)) return false;
  if (before.end.exitCode !== after.end.exitCode || before.end.signal !== after.end.signal) return false;
  if (before.end.timedOut !== after.end.timedOut) return false;
  return namesNothingNew(failuresOf(before), failuresOf(after));
}

function failuresOf({ failures, output }: CommandReport): NamedFailures {
  return failures ?? failuresIn(whole(output));
}

/** Where one of the lists ends early, the lines that sort after its end are compared by their number. */
function namesNothingNew(before: NamedFailures, after: NamedFailures): boolean {
  // Nothing was said of failures before, and now it is; or the other way round.
  if (before.inWords !== after.inWords) return before.inWords;
  const ends = [before, after].flatMap(({ lines, others }) => (others > 0 ? [lines.at(-1)?.line ?? ''] : []));
  const isListed = ({ line }: { line: string }) => ends.every((end) => line <= end);
  const unlisted = ({ lines, others }: NamedFailures) =>
    lines.filter((one) => !isListed(one)).reduce((sum, { times }) => sum + times, others);
  const known = new Map(before.lines.map((one) => [one.line, one]));
  const isOld = ({ line, times, worst }: NamedFailures['lines'][number]) => {
    const earlier = known.get(line);
    return earlier !== undefined && times <= earlier.times && worst <= earlier.worst;
  };
  return after.lines.filter(isListed).every(isOld) && unlisted(after) <= unlisted(before);
}

/** By its exit code a program could not be executed or was not found: that says nothing about the work. */
export function wasNotRun({ exitCode }: CommandReport['end']): boolean {
  return exitCode === 126 || exitCode === 127;
}

const FAILURE = /fail|error|not ok|panic|exception|traceback|fatal|assert|[✖✗✘×❌]/i;
/** `src/a.py:3:80: E501 line too long`, `a.ts(3,8): …` */
const PLACE = /^[^\s:()]+(?::\d+|\(\d+,\d+\))/;
const SUCCESS = /^(?:ok\b|pass|[✓✔√])/i;
const COUNT = /(?<!\d)(\d{1,9})\s{1,20}(?:fail|error)|(?:fail\w{0,20}|errors?)\W{1,3}(\d{1,9})\b/gi;

/** Maximum characters of the lines that are listed, and of one of them. */
const LISTED_CHARS = 64 * 1024;
const LINE_CHARS = 2_000;

/** The failures that an output names. Lines that the gap of an excerpt cuts into are left out. */
export function failuresIn(output: Excerpt): NamedFailures {
  const lines = excerptLines(output)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  // A formatter that lists files reports failures in its own words.
  const inWords = lines.some(namesFailure);
  const counted = [...countedLines(lines, inWords)].map(([line, counts]) => ({ line, ...counts }));
  counted.sort((a, b) => (a.line < b.line ? -1 : 1));
  const listed: typeof counted = [];
  let chars = 0;
  let others = 0;
  for (const one of counted) {
    chars += one.line.length;
    if (chars <= LISTED_CHARS) listed.push(one);
    else others += one.times;
  }
  return { inWords, lines: listed, others };
}

function namesFailure(line: string): boolean {
  return (FAILURE.test(line) || PLACE.test(line)) && !SUCCESS.test(line);
}

/** How often each line occurs, and the largest number of failures it names; failures only, if they are stated in words. */
function countedLines(
  lines: readonly string[],
  inWords: boolean,
): Map<string, { times: number; worst: number }> {
  const counted = new Map<string, { times: number; worst: number }>();
  for (const line of lines) {
    if (inWords && !namesFailure(line)) continue;
    const counts = [...line.matchAll(COUNT)].map((match) => Number(match[1] ?? match[2]));
    const key = withoutChance(line);
    const seen = counted.get(key) ?? { times: 0, worst: 0 };
    counted.set(key, { times: seen.times + 1, worst: Math.max(seen.worst, ...counts) });
  }
  return counted;
}

/** Lines in which test runners name a failed test: TAP, node --test, go test and unittest. */
const NAMES = [
  /^not ok \d+ (?:- )?(\S.*)$/i,
  /^✖ (.+ \([\d.]+ms\))$/,
  /^--- FAIL: (\S+) \(/,
  /^(?:FAIL|ERROR): (\w+ \(\S+\))$/,
];
const DURATION = /\b\d+(?:\.\d+)? ?m?s\b/g;
/** Not those of an identifier, or of what follows it in brackets: `test3`, `case_3`, `test_add[3-4]`, `TestAdd/#01`. */
const CHANCE =
  /\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{6,}\b|(?<![a-z_]\d{0,9}|\w\[[^\]\s]{0,50}|\/#\d{0,9})\d{1,9}(?:\.\d{1,9})?/gi;

function withoutChance(line: string): string {
  const name = NAMES.map((form) => form.exec(line)?.[1]).find((found) => found !== undefined);
  const plain = (
    name === undefined
      ? line.replace(/\/tmp\/[^\s'":,)]+/g, '/tmp/#').replace(CHANCE, '#')
      : `test ${name.replace(DURATION, '#')}`
  ).replace(/\s+/g, ' ');
  return firstUnits(plain, LINE_CHARS);
}
