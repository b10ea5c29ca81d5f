/** The lines of a check, from what opening the run has found. */

import { stripVTControlCharacters } from 'node:util';
import { type CheckLine, fine, lacking, noted, skipped } from '../../domain/check-report.ts';
import { describeEndAndTime, succeeded } from '../../domain/conversation/tool.ts';
import { installLine } from '../../domain/packages.ts';
import { missingProgram } from '../../domain/review/denial-signs.ts';
import type { CommandReport } from '../../domain/run/events.ts';
import type { RunOutcome } from '../../domain/run/outcome.ts';
import { wasNotRun } from '../../domain/run/verify-baseline.ts';
import { shortened } from '../../domain/text/shorten.ts';
import { wrapped } from '../../domain/text/terminal.ts';
import { listed } from '../../domain/text/words.ts';
import { missingPackage } from '../../engine/open/install-hint.ts';
import { OPENING_STAGES, type OpeningStage, type Session } from '../../engine/session.ts';

/** The page: a line for each finding, and below it what to do. */
export function pageOf(lines: readonly CheckLine[]): string[] {
  const marks = { ok: 'ok', note: 'note', failed: 'FAILED', skipped: '-' };
  return lines.flatMap(({ part, status, code, said, fix }) => [
    `${marks[status].padEnd(6)}  ${part.padEnd(10)}  ${code === null ? '' : `[${code}] `}${said}`,
    ...(fix === null ? [] : [`${' '.repeat(TEXT)}fix: ${fix}`]),
  ]);
}

/** The column in which findings begin. */
const TEXT = 20;

/** A line of the page as a terminal shows it. */
export function inTerminal(line: string, columns: number): string {
  const isFix = line.startsWith(`${' '.repeat(TEXT)}fix: `);
  return wrapped(line, columns, TEXT + (isFix ? 'fix: '.length : 0));
}

/** How far the run was opened. */
export interface Opened {
  readonly session: Session;
  readonly outcome: RunOutcome;
  /** Whether a task was given; without one the rest is checked anyway. */
  readonly hasTask: boolean;
  /** The commands were run, as far as the check came. */
  readonly hasRun: boolean;
}

/** The lines of the stages, and of what lies between them. */
export function linesOf(opened: Opened): CheckLine[] {
  const {
    session: { stage, result },
    outcome,
  } = opened;
  const reached = OPENING_STAGES.indexOf(stage);
  const isWell = outcome.exitCode === 0;
  return OPENING_STAGES.flatMap((part, at): CheckLine[] => {
    if (isWell && !opened.hasRun && /^(?:setup|verify)$/.test(part))
      return [skipped(part, 'not run: something above failed')];
    if (isWell || at < reached) return FOUND[part](opened);
    if (at > reached) return part === 'model' ? [] : [skipped(part, `not reached: ${stage} comes first`)];
    // What went well in it before is shown, too.
    const hasRun = part === 'setup' || (part === 'verify' && result.verifyBaseline !== null);
    const before = hasRun ? FOUND[part](opened).filter(({ status }) => status === 'ok') : [];
    return [...before, lacking(part, outcome.errorCode, outcome.reason)];
  });
}

const FOUND: Readonly<Record<OpeningStage, (opened: Opened) => CheckLine[]>> = {
  'work tree': ({ session: { root, result } }) => {
    const { baseBranch, baseSha, baseDirty, workingDirectory } = result;
    const at = baseSha === null ? '' : `, ${baseBranch ?? 'detached'} @ ${baseSha.slice(0, 12)}`;
    const folder = workingDirectory ? `, working directory ${workingDirectory}` : '';
    const tree = fine('work tree', `${root ?? 'found'}${at}${folder}`);
    return [baseDirty ? noted('work tree', `${tree.said}, with uncommitted changes`, COMMIT_FIRST) : tree];
  },
  plan: ({ hasTask, session: { result } }) =>
    hasTask
      ? [fine('plan', result.plan?.title ?? 'valid')]
      : [
          noted(
            'plan',
            'none given: only .patchsmith.yml and flags were checked',
            'patchsmith check --plan FILE, or -m "TASK"',
          ),
        ],
  principles: ({ session: { result } }) => {
    const paths = result.principles.map(({ path }) => path);
    return [paths.length > 0 ? fine('principles', listed(paths, 5)) : NO_PRINCIPLES];
  },
  model: () => [],
  sandbox: ({ session: { result } }) => [
    result.sandbox === 'none' ? NO_SANDBOX : fine('sandbox', `commands are contained (${result.sandbox})`),
  ],
  setup: ({ session: { result } }) =>
    result.setup.length === 0
      ? [skipped('setup', 'no setup command')]
      : result.setup.filter(({ end }) => succeeded(end)).map((report) => fine('setup', ended(report))),
  verify: ({ session: { result, input } }) => {
    const reports = result.verifyBaseline ?? [];
    const flags = (result.network?.hosts ?? []).flatMap(({ allow }) => allow ?? []);
    const ran = reports.filter(({ end }) => !wasNotRun(end));
    return reports.length === 0
      ? [NO_VERIFY]
      : ran.map((report) => verifyLine(report, input.settings.verifyBaseline, flags));
  },
};

const COMMIT_FIRST =
  'commit them if the run is to be published: publish refuses a run that started with uncommitted work';

const NO_PRINCIPLES = noted(
  'principles',
  'none: there is no AGENTS.md or CLAUDE.md in this folder or above it in the repository',
  'write an AGENTS.md that says how changes are made here, or ignore this',
);

const NO_SANDBOX = noted(
  'sandbox',
  'none: commands run as you, with your files and network',
  'patchsmith doctor says what is missing',
);

const NO_VERIFY = noted(
  'verify',
  'no verify command: only the model judges its work',
  'name one: --verify "npm test", or verify: in the plan or .patchsmith.yml',
);

function verifyLine(
  report: CommandReport,
  willCompareFailures: boolean,
  flags: readonly string[],
): CheckLine {
  if (succeeded(report.end)) return fine('verify', `${ended(report)}: passes before the work`);
  const { said, fix } = failureOf(report, flags);
  return noted(
    'verify',
    `${ended(report)}: fails before the work${said}`,
    fix ?? (willCompareFailures ? null : FINE_IF_PLANNED),
  );
}

const FINE_IF_PLANNED =
  'fine if the plan is to make it pass; otherwise fix it, or pass --verify-baseline, so that pre-existing failures do not fail the run';

/** Why it failed, as the rest of a sentence, and what to do where it lacks something; `fix` is null where it does not. */
function failureOf(
  { output, why }: CommandReport,
  flags: readonly string[],
): { readonly said: string; readonly fix: string | null } {
  const plain = stripVTControlCharacters(output);
  const said = why === undefined ? lastWords(plain) : `: ${why}`;
  // What programs say around a refusal fills a screen.
  if (flags.length > 0)
    return {
      said: ', and hosts were refused',
      fix: `if it lacks packages: --cache auto shows commands those of this machine, or allow the hosts with ${listed(flags, 5)}`,
    };
  const lacking = missingPackage(output);
  if (lacking !== null)
    return { said: `, since something is not installed: ${lacking}`, fix: INSTALL_PACKAGE };
  const absent = missingProgram(plain);
  if (absent === null) return { said, fix: null };
  return {
    said: `, and a program is not found: ${shortened(absent.line, 160)}`,
    fix: installLine(absent.program) ?? INSTALL_PROGRAM,
  };
}

const INSTALL_PACKAGE =
  'install it as usual, into the environment that the command uses, or let a setup command do that';

const INSTALL_PROGRAM = 'install it, or leave out the command that needs it';

/** The end of an output of unknown form, so that one need not open the result to see why the command failed. */
function lastWords(output: string): string {
  const lines = output.split('\n').map((line) => line.trim());
  const last = lines.filter((line) => line !== '').slice(-3);
  const shown = last.map((line) => shortened(line.replace(/\s+/g, ' '), 160)).join(' / ');
  return shown === '' ? '' : `; it ends with: ${shown}`;
}

function ended({ command, end }: CommandReport): string {
  return `${command} (${describeEndAndTime(end)})`;
}
