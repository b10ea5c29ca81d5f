/** `patchsmith show`: what happened in a run, on one page. */

import { existsSync } from 'node:fs';
import { endDeadRun } from '../../adapters/storage/dead-run.ts';
import { findRun } from '../../adapters/storage/find-run.ts';
import { summarise } from '../../adapters/storage/list-runs.ts';
import { readResult } from '../../adapters/storage/read-result.ts';
import type { RunDirectory } from '../../adapters/storage/run-directory.ts';
import { costLine, fileLine, flagLines, proofLine } from '../../domain/report/result-lines.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import { done, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import type { Redact } from '../../domain/secrets/redact.ts';
import { oneLine } from '../../domain/text/terminal.ts';
import { formatSize, pluralize, sentence } from '../../domain/text/words.ts';
import { printEither, runOf, type Work, working } from '../work.ts';

/** Its files are read within bounds and without following links; a run whose process has died is completed first. */
export const startShow = working(showRun);

async function showRun(work: Work): Promise<RunOutcome> {
  const found = await runOf(work, findRun);
  if (found.status === 'failed') return found.outcome;
  const { directory } = found;
  const died = await endDeadRun(directory);
  const result = died ?? readResult(directory);
  const runId = result?.runId ?? directory.path.split('/').at(-1) ?? '';
  const summary = await summarise(runId, directory.path, 'default');
  if (result === null) {
    const why = summary.problem ?? 'result.json is from another version of patchsmith';
    const rest = summary.outcome === null ? '' : ` It says: ${summary.outcome} (exit ${summary.exitCode}).`;
    return usageError(
      'ERR_RESULT_UNREADABLE',
      `${sentence(`The run in ${directory.path} cannot be shown: ${why}`)}${rest}`,
    );
  }
  const { bytes, startedAt } = summary;
  const shown = { path: directory.path, root: result.root, bytes, startedAt };
  const began = startedAt === null ? null : new Date(startedAt).toISOString();
  const document = { version: 1, ...shown, startedAt: began, result };
  const unread = await printEither(work, document, () => page(result, { ...shown, directory }, work.redact));
  if (unread !== null) return unread;
  return done(
    `The run ${result.runId}${result.outcome === null ? ' is running' : `: ${result.outcome} (exit ${result.exitCode})`}.`,
  );
}

/** What is known about a run besides its result. */
interface ShownRun {
  readonly directory: RunDirectory;
  readonly bytes: number;
  readonly startedAt: number | null;
}

/** Entries of each list. */
const MOST = 20;

/** Headings and what belongs to them; what a run does not have is left out. */
function page(result: RunResult, { directory, bytes, startedAt }: ShownRun, redact: Redact): string {
  const { outcome, exitCode, reason, plan, model, baseSha, baseBranch, baseDirty, testProof } = result;
  const base = [
    baseBranch ?? 'detached',
    baseSha?.slice(0, 12) ?? 'no commit',
    ...(baseDirty ? ['with uncommitted changes'] : []),
  ];
  const lines = [
    `run ${result.runId}`,
    `  outcome     ${outcome === null ? 'running' : `${outcome} (exit ${exitCode})`}`,
    ...field('reason', reason),
    ...field(
      'began',
      startedAt === null ? '' : `${new Date(startedAt).toISOString().slice(0, 19).replace('T', ' ')} UTC`,
    ),
    ...field('repository', result.root ?? ''),
    ...field(
      'base',
      baseSha === null && baseBranch === null ? '' : base.join(' @ ').replace(' @ with', ', with'),
    ),
    ...field('plan', plan === null ? '' : `${plan.title} (${sourceOf(plan.source)})`),
    ...field('model', model ?? ''),
    // The result has it when the run has ended.
    ...field('cost', model === null || outcome === null ? '' : costLine(result)),
    ...part('attempts', attemptLines(result)),
    ...part('setup', result.setup.map(reportLine)),
    ...part('verify', result.verify.map(reportLine)),
    ...part('flaky', result.flaky),
    ...part('tests of the patch', testProof === null ? [] : [proofLine(testProof)]),
    ...part('files', result.changedFiles.map(fileLine)),
    ...part(
      'denied',
      result.denied.map(({ what }) => what),
    ),
    ...part('look at', flagLines(result.flags)),
    ...part('warnings', result.warnings),
    ...(result.summary === ''
      ? []
      : ['', "the model's own summary, which is not evidence:", ...textOf(result.summary)]),
    '',
    ...pathsOf(directory, bytes),
  ];
  return lines.map((line) => `${oneLine(redact(line), 2_000)}\n`).join('');
}

function field(name: string, value: string): string[] {
  return value === '' ? [] : [`  ${name.padEnd(10)}  ${value}`];
}

function part(name: string, entries: readonly string[]): string[] {
  if (entries.length === 0) return [];
  const left = entries.length - MOST;
  const more = left > 0 ? [`  … and ${left} more`] : [];
  return ['', `${name}:`, ...entries.slice(0, MOST).map((entry) => `  ${entry}`), ...more];
}

function attemptLines({ attempts }: RunResult): string[] {
  if (attempts === null) return [];
  const { chosen, why, list } = attempts;
  const lineOf = ({ number, outcome, lines, files, path }: (typeof list)[number]) =>
    `${number === chosen ? '*' : ' '} ${number}  ${outcome}  ${lines} lines in ${pluralize(files, 'file')}  ${path}`;
  return [...list.map(lineOf), `chosen: ${why}`];
}

function textOf(text: string): string[] {
  const lines = text.split('\n');
  return [...lines.slice(0, MOST), ...(lines.length > MOST ? ['…'] : [])].map((line) => `  ${line}`);
}

function reportLine({ command, end }: CommandReport): string {
  const how = end.timedOut
    ? 'timed out'
    : end.interrupted
      ? 'interrupted'
      : (end.signal ?? `exit ${end.exitCode}`);
  return `${how.padEnd(11)} ${(end.durationMs / 1000).toFixed(1)} s  ${command}`;
}

function sourceOf(source: NonNullable<RunResult['plan']>['source']): string {
  return 'url' in source ? source.url : 'path' in source ? source.path : source.kind;
}

function pathsOf(directory: RunDirectory, bytes: number): string[] {
  const { path, patch, uncommitted, events, result, report } = directory;
  const named = { patch, report, uncommitted, result, journal: events };
  const there = Object.entries(named).filter(([, file]) => existsSync(file));
  return [
    `in ${path} (${formatSize(bytes)}):`,
    ...there.map(([name, file]) => `  ${name.padEnd(11)} ${file}`),
  ];
}
