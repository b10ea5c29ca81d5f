/** Parts of a run as Markdown, for a pull request and for the summary of a step. Anything from outside is escaped. */

import type { ChangedFile } from '../domain/changes/change.ts';
import { describeTokens } from '../domain/conversation/conversation.ts';
import { describeEndAndTime, succeeded } from '../domain/conversation/tool.ts';
import { countFindings, type Finding } from '../domain/findings/review.ts';
import {
  code,
  codeCell,
  escaped,
  fenced,
  pathCode,
  quoted,
  textCell,
} from '../domain/github/publishing/markdown.ts';
import { verificationOf } from '../domain/github/publishing/policy.ts';
import { prose } from '../domain/github/publishing/prose.ts';
import { DENIAL_KIND, type Denial } from '../domain/review/denied.ts';
import { FLAGS, type Flag } from '../domain/review/flag.ts';
import type { CommandReport } from '../domain/run/events.ts';
import type { RunResult } from '../domain/run/result.ts';
import { judgeReports } from '../domain/run/verify-baseline.ts';
import { formatNumber, listed, pluralize } from '../domain/text/words.ts';
import { bullets, filesTable, table } from './bounded-list.ts';

/**
 * Most characters of the parts that grow with the run. Together with the fixed parts they stay below the 65,536 that GitHub
 * accepts for a body.
 */
export const ROOM = {
  account: 8_000,
  verify: 6_000,
  output: 12_000,
  flags: 6_000,
  denied: 4_000,
  review: 6_000,
  files: 11_000,
  merged: 3_000,
  warnings: 4_000,
};

/**
 * What each page about a run has, in Markdown with a title where it has one; a part without content is empty. `scale` is how
 * often the room of a body there is.
 */
export function sectionsOf(result: RunResult, flags: readonly Flag[], scale = 1) {
  return {
    account: ownWords(result, scale * ROOM.account),
    verification: paragraphs([
      verifyTable(result, scale * ROOM.verify),
      failedOutput(result, scale * ROOM.output),
    ]),
    review: titled('Review', reviewSection(result, scale * ROOM.review)),
    denied: titled('Denied to the run', deniedList(result, scale * ROOM.denied)),
    secondLook: titled('Worth a second look', flagList(flags, scale * ROOM.flags)),
    files: folded('Changed files, and what made them', filesTable(result, scale * ROOM.files)),
  };
}

/** Markdown one below the other, without what is empty. */
export function paragraphs(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n\n');
}

/** Empty if there is nothing below the title. */
export function titled(title: string, markdown: string): string {
  return markdown === '' ? '' : `**${title}**\n\n${markdown}`;
}

/** What the model says of its work, marked as such; empty if it says nothing. */
export function ownWords(
  { summary }: Pick<RunResult, 'summary'>,
  maxLength: number,
  intro = "In the model's own words:",
): string {
  const account = prose(summary, maxLength);
  return account === '' ? '' : `${intro}\n\n${quoted(account)}`;
}

/** `**2 files changed** (+42 −3) · **verified:** 1 of 1 commands passed · 6 turns, $0.0812`. */
export function factsLine(result: RunResult): string {
  const sum = (lines: (file: ChangedFile) => number | null) =>
    result.changedFiles.reduce((all, file) => all + (lines(file) ?? 0), 0);
  const added = sum(({ additions }) => additions);
  const removed = sum(({ deletions }) => deletions);
  return [
    result.treeSha === null
      ? '**changes unknown**'
      : `**${pluralize(result.changedFiles.length, 'file')} changed** (+${formatNumber(added)} −${formatNumber(removed)})`,
    verdict(result),
    `${pluralize(result.iterations, 'turn')}, ${costText(result)}`,
  ].join(' · ');
}

/** The result of verification, in one phrase that claims no more than was seen. */
function verdict(result: RunResult): string {
  const { verify } = result;
  const passed = verify.filter(({ end }) => succeeded(end)).length;
  const { failed, preexisting } = judgeReports(verify, result.verifyBaseline);
  const flaky = result.flaky.length > 0 ? `, ${result.flaky.length} flaky` : '';
  const asBefore = `${flaky}${preexisting.length > 0 ? `, ${preexisting.length} failed as before the work` : ''}`;
  switch (verificationOf(result)) {
    case 'passed':
      return `**verified${where(result)}:** ${pluralize(passed, 'command')} passed${asBefore}${proof(result)}`;
    case 'failed':
      return `**verification failed${where(result)}:** ${failed.length} of ${pluralize(verify.length, 'command')}${asBefore}`;
    case 'otherwise':
      return `**not verified as is:** ${pluralize(passed, 'command')} passed${where(result)}, but on different contents than the patch in ${firstThree(result.unverified)}${asBefore}`;
    case 'preexisting':
      return '**not verified:** every command failed as it had failed before the work';
    case 'none':
      return cameToItsEnd(result) ? '**not verified:** no command was named' : '**not verified**';
  }
}

function proof({ testProof }: RunResult): string {
  if (testProof?.status === 'proven') return '; its tests fail without the rest of the patch';
  return testProof?.status === 'not_proven'
    ? `; **not proven by its tests:** ${escaped(testProof.why, 300)}`
    : '';
}

function firstThree(paths: readonly string[]): string {
  return listed(paths.map(pathCode), 3);
}

function where({ verifyIn }: RunResult): string {
  return verifyIn === 'checkout' ? ' in a fresh checkout of base + patch' : '';
}

/** Otherwise, some of the commands may never have run. */
function cameToItsEnd({ outcome }: RunResult): boolean {
  return outcome === 'done' || outcome === 'no_change';
}

/** A row per verify command; empty if there are none. */
function verifyTable(result: RunResult, maxLength: number): string {
  const { verify, verifyBaseline, flaky } = result;
  if (verify.length === 0) return '';
  const { preexisting } = judgeReports(verify, verifyBaseline);
  const cellsOf = (report: CommandReport) => {
    const { command, end } = report;
    const verdict = succeeded(end)
      ? `passed after ${(end.durationMs / 1000).toFixed(1)} s${flaky.includes(command) ? '; **flaky**: it also failed on the same files' : ''}`
      : `**failed**, ${textCell(describeEndAndTime(end))}`;
    return [
      codeCell(command),
      preexisting.includes(report) ? `${verdict}; it also did before the work` : verdict,
    ];
  };
  return table(['Verified with', 'Result'], verify, cellsOf, { maxLength, maxLines: 50, noun: 'command' });
}

/**
 * The output of failed commands, folded; empty if none failed that had not failed before. It is quoted, so that no line of
 * the Markdown source is a bare line of output: a squash merge turns the source into a commit message, in which lines can be
 * trailers.
 */
function failedOutput({ verify, verifyBaseline }: RunResult, maxLength: number): string {
  const { failed } = judgeReports(verify, verifyBaseline);
  const printed = failed.filter(({ output }) => output.trim() !== '').slice(0, 5);
  if (printed.length === 0) return '';
  // The quotation's markers can be as long as the text.
  const room = Math.floor((maxLength / printed.length - 1_000) / 2);
  const blocks = printed.map(({ command, output }) => `${code(command)}\n\n${quoted(fenced(output, room))}`);
  return folded('Output of what failed', blocks.join('\n\n'));
}

/** `title` is trusted text. */
export function folded(title: string, markdown: string): string {
  return `<details><summary>${title}</summary>\n\n${markdown}\n\n</details>`;
}

/** One item per path and flag; empty if there are none. */
function flagList(flags: readonly Flag[], maxLength: number): string {
  const lineOf = ({ path, flag, detail }: Flag) => {
    const found = detail === '' ? '' : ` (${escaped(detail, 200)})`;
    return `${pathCode(path)} ${FLAGS[flag]}${found}`;
  };
  return bullets(flags, lineOf, { maxLength, maxLines: 30, noun: 'place' });
}

/** Which of several attempts this is, and why; empty for a run without. */
export function attemptsLine({ attempts }: RunResult): string {
  if (attempts === null || attempts.chosen === null) return '';
  const { chosen, asked, why, list } = attempts;
  const begun = list.length < asked ? ` (${list.length} begun)` : '';
  return `number ${chosen} of ${asked}${begun}: ${escaped(why, 600)}`;
}

/** A reviewer's findings, and what happened to them; empty for a run without a review or with nothing to review. */
export function reviewSection({ review }: RunResult, maxLength: number): string {
  if (review === null || review.status === 'not_due') return '';
  const by = escaped(review.model, 100);
  if (review.status === 'failed') return `Not reviewed by ${by}: ${escaped(review.reason, 600)}`;
  const lineOf = ({ severity, path, line, problem }: Finding) =>
    `${severity === 'blocking' ? '**blocking**' : 'note'} ${pathCode(path)}${line === null ? '' : `, line ${line}`}: ${escaped(problem, 1_000)}`;
  const found = bullets(review.findings, lineOf, { maxLength, maxLines: 50, noun: 'finding' });
  const about = [
    `Reviewed by ${by}: ${countFindings(review.findings)}.`,
    ...(review.leftOut > 0
      ? [`It was not shown ${formatNumber(review.leftOut)} characters of a long patch.`]
      : []),
    ...(review.sentBack
      ? ['The blocking ones were sent back; the changes that followed were not reviewed.']
      : []),
    ...(review.changedSince.length > 0 ? [`Changed since: ${firstThree(review.changedSince)}.`] : []),
  ].join(' ');
  return found === '' ? about : `${about}\n\n${found}`;
}

/** One item for each thing that the run asked for and did not get; empty when it got all. */
export function deniedList({ denied, deniedCount }: RunResult, maxLength: number): string {
  const lineOf = ({ kind, what, calls, commands = [], why }: Denial) => {
    const by = [...askers('call', calls, 60), ...askers('command', commands, 100)].join('');
    return `${code(what, 200)} (${DENIAL_KIND[kind]}${by}): ${escaped(why, 300)}`;
  };
  const list = bullets(denied, lineOf, { maxLength, maxLines: 30, noun: 'denial' });
  const unnamed = deniedCount - denied.length;
  return unnamed > 0 ? `${list}\n- … ${pluralize(unnamed, 'more denial')} that the result only counts` : list;
}

function askers(noun: string, names: readonly string[], maxLength: number): string[] {
  if (names.length === 0) return [];
  const one = names.length > 1 ? `one of the ${noun}s` : noun;
  return [`, ${one} ${names.map((name) => code(name, maxLength)).join(', ')}`];
}

/** The warnings of the result; empty if there are none. */
export function warningList(warnings: readonly string[], maxLength: number): string {
  const bounds = { maxLength, maxLines: 20, noun: 'warning' };
  return bullets(warnings, (warning) => escaped(warning, 600), bounds);
}

/** `claude-sonnet-5-5, 46,600 tokens, 81% of the prompts from the cache, $0.0812, 94.3 s`. */
export function modelLine(result: RunResult): string {
  const { tokens, costUsd, estimated, durations, model, provider } = result;
  const mark = estimated ? ' (estimated)' : '';
  return [
    model === null ? 'no model' : escaped(model, 100),
    ...(provider === 'replay' ? ['played from a recording'] : []),
    `${describeTokens(tokens)}${costUsd === 'unknown' ? mark : ''}`,
    costText(result),
    `${(durations.totalMs / 1000).toFixed(1)} s`,
  ].join(', ');
}

/** `USD 0.0812`, and whether that is an estimate. */
export function costText({ costUsd, estimated }: Pick<RunResult, 'costUsd' | 'estimated'>): string {
  if (costUsd === 'unknown') return 'cost unknown';
  return `USD ${costUsd.toFixed(4)}${estimated ? ' (estimated)' : ''}`;
}

/** Folders in which jobs and people work; what lies elsewhere is the same on every machine. */
const FOLDERS = '(?:home|root|tmp|var|private|mnt|opt|srv|builds|runner|github|workspace|__w|Users)';
const MACHINE_PATH = new RegExp(
  `(?<![\\w:/.~-])/${FOLDERS}/(?:[^\\s"'\`/]+/)*([^\\s"'\`/]*?)(?=[.,;:)]*(?:[\\s"'\`]|$))`,
  'g',
);

/** More than is shown of such a text anywhere. */
const MOST = 4_000;

/** `/home/runner/work/shop/shop/plan.md` becomes `…/plan.md`, in the first 4,000 characters; the others are left out. */
export function withoutMachinePaths(text: string): string {
  return text.slice(0, MOST).replace(MACHINE_PATH, (_, name: string) => `…/${name}`);
}
