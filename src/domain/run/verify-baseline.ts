/** Distinguishes failures of verify commands that existed before the run from new ones. */

import { succeeded } from '../conversation/tool.ts';
import type { CommandReport } from './events.ts';

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

/**
 * A command fails as before when it ends the same way (exit code, signal, timeout) and its output names no failure that
 * it did not name then. Lines that speak of failures or begin with a place in a file are compared, and every line where
 * there was none of these, without what differs from run to run or moves with an edit (numbers, addresses, temporary
 * paths, colours): none may be new, none may come more often, and a number of failures ("3 failed") may not have grown.
 * What was cut out of a long output is not compared. A program that was not found never fails as before.
 */
function failsAsBefore(before: CommandReport, after: CommandReport): boolean {
  if (succeeded(before.end) || before.end.interrupted || after.end.interrupted) return false;
  if (wasNotRun(after.end)) return false;
  if (before.end.exitCode !== after.end.exitCode || before.end.signal !== after.end.signal) return false;
  if (before.end.timedOut !== after.end.timedOut) return false;
  // A formatter that lists files reports failures in its own words.
  const inWords = linesOf(before.output).some(namesFailure);
  const known = countedLines(before.output, inWords);
  return [...countedLines(after.output, inWords)].every(([line, { times, worst }]) => {
    const earlier = known.get(line);
    return earlier !== undefined && times <= earlier.times && worst <= earlier.worst;
  });
}

/** By its exit code a program could not be executed or was not found: that says nothing about the work. */
export function wasNotRun({ exitCode }: CommandReport['end']): boolean {
  return exitCode === 126 || exitCode === 127;
}

const FAILURE = /fail|error|not ok|panic|exception|traceback|fatal|assert|[✖✗✘×❌]/i;
/** `src/a.py:3:80: E501 line too long`, `a.ts(3,8): …` */
const PLACE = /^[^\s:()]+(?::\d+|\(\d+,\d+\))/;
const SUCCESS = /^(?:ok\b|pass|[✓✔√])/i;
const COUNT = /(\d+)\s+(?:fail|error)|(?:fail\w*|errors?)\W{1,3}(\d+)\b/gi;

function linesOf(output: string): string[] {
  const lines = output.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, '').split(/\r\n|\n|\r/);
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

function namesFailure(line: string): boolean {
  return (FAILURE.test(line) || PLACE.test(line)) && !SUCCESS.test(line);
}

/** How often each line occurs, and the largest number of failures it names; failures only, if they are stated in words. */
function countedLines(output: string, inWords: boolean): Map<string, { times: number; worst: number }> {
  const counted = new Map<string, { times: number; worst: number }>();
  for (const line of linesOf(output)) {
    if (inWords && !namesFailure(line)) continue;
    const counts = [...line.matchAll(COUNT)].map((match) => Number(match[1] ?? match[2]));
    const key = withoutChance(line);
    const seen = counted.get(key) ?? { times: 0, worst: 0 };
    counted.set(key, { times: seen.times + 1, worst: Math.max(seen.worst, ...counts) });
  }
  return counted;
}

function withoutChance(line: string): string {
  return line
    .replace(/\/tmp\/[^\s'":,)]+/g, '/tmp/#')
    .replace(/\b(?:0x)?(?=[0-9a-f]*\d)[0-9a-f]{6,}\b|\d+(?:\.\d+)?/gi, '#')
    .replace(/\s+/g, ' ');
}
