/** The top of the page: how the run ended, why, and what a reviewer has to check; and the verify commands. */

import type { CommandReport } from '../../src/domain/run/events.ts';
import type { RunResult } from '../../src/domain/run/result.ts';
import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { block, facts, folded, h, section } from '../dom.ts';
import { duration, moment, money, percent } from '../format.ts';
import { allTokens, type Run } from '../run.ts';

const WORDS: Readonly<Record<string, string>> = {
  done: 'Done',
  no_change: 'Nothing changed',
  internal_error: 'Internal error',
  usage_error: 'Could not begin',
  provider_error: 'The provider failed',
  blocked: 'Blocked',
  limit_reached: 'A limit was reached',
  policy_violation: 'Policy violation',
  verify_failed: 'Verification failed',
  sandbox_unavailable: 'No sandbox',
  publish_failed: 'The patch could not be kept',
  deadline: 'The deadline passed',
  interrupted: 'Interrupted',
};

/** The heading with the outcome, the figures of the run, and the points to check. */
export function verdictSection(run: Run): HTMLElement {
  const { result, notes, madeAt } = run.data;
  const { outcome, exitCode, plan, reason, status, summary, superseded } = result;
  const code = outcome === null ? 'no outcome yet' : `${outcome} · exit ${exitCode ?? 'unknown'}`;
  const noReason = outcome === null ? 'The run had not ended.' : 'No reason was given.';
  const then = `This page shows the run as it was at ${moment(madeAt)}, while it went on.`;
  return h(
    `section.verdict.${toneOf(result)}`,
    { id: 'verdict', 'aria-labelledby': 'verdict-title' },
    h('p.plan-title', run.started?.replayOf ? 'Replay of ' : null, plan?.title ?? 'No plan'),
    h('h1', { id: 'verdict-title' }, [
      h('span.outcome', WORDS[outcome ?? ''] ?? 'Running'),
      ' ',
      h('code.exit', code),
    ]),
    h('p.reason', reason || noReason),
    status === 'running' && h('p.callout.warn', then),
    superseded.map((end) =>
      h('p.callout', `Resumed after it had ended as ${end.outcome ?? 'running'}: ${end.reason}`),
    ),
    figures(run),
    pointsOf(run),
    notes.length > 0 && h('p.callout.warn', 'Not in this page: ', notes.join(' ')),
    summary !== '' &&
      h(
        'figure.claim',
        h('blockquote', summary),
        h('figcaption', "The model's own summary. It is no evidence."),
      ),
  );
}

/** The colour of the section. */
function toneOf({ outcome, exitCode }: RunResult): 'good' | 'warn' | 'bad' | 'plain' {
  if (outcome === null) return 'plain';
  if (exitCode === 0) return outcome === 'done' ? 'good' : 'plain';
  return ['limit_reached', 'deadline', 'interrupted', 'blocked'].includes(outcome) ? 'warn' : 'bad';
}

function figures({ data: { result }, started, iterations }: Run): HTMLElement {
  const { tokens, costUsd, durations, verify, verifyIn, changedFiles, model, provider } = result;
  const prompt = allTokens(tokens) - tokens.output;
  const passed = verify.filter(({ end }) => hasPassed(end)).length;
  const turns = Math.max(result.iterations, iterations.length - 1);
  const limits = started?.limits;
  const of = (limit: number | null | undefined, text: (value: number) => string) =>
    limit == null ? '' : ` of ${text(limit)}`;
  const cost = `${money(costUsd)}${provider === 'replay' ? ' when it was recorded' : ''}${result.estimated ? ' (estimated)' : ''}`;
  const lines = (name: 'additions' | 'deletions') =>
    formatNumber(changedFiles.reduce((sum, file) => sum + (file[name] ?? 0), 0));
  const changes = `${pluralize(changedFiles.length, 'file')}, +${lines('additions')} −${lines('deletions')}`;
  const where = verifyIn === 'checkout' ? ' in a fresh checkout' : '';
  const verified = `${passed} of ${pluralize(verify.length, 'command')} passed${where}`;
  const total = `${formatNumber(allTokens(tokens))}${of(limits?.maxTotalTokens, formatNumber)}`;
  return h(
    'div.figures',
    facts([
      ['Changes', changedFiles.length === 0 ? 'none' : changes],
      ['Verified', verify.length === 0 ? 'by nothing' : verified],
      ['Iterations', `${turns}${of(limits?.maxIterations, formatNumber)}`],
      ['Time', durations.totalMs > 0 && `${duration(durations.totalMs)}${of(limits?.deadlineMs, duration)}`],
      ['Cost', model && `${cost}${of(limits?.maxCostUsd, money)}`],
      ['Tokens', prompt > 0 && total],
      ['From the cache', prompt > 0 && `${percent(tokens.cacheRead, prompt)} of the prompts`],
      ['Model', model],
    ]),
  );
}

/** Links to every reason not to accept the patch as it is. */
function pointsOf({ data: { result } }: Run): HTMLElement | false {
  const points: [number, string, string][] = [
    [result.secrets.length, 'possible secret', '#points'],
    [result.review?.findings.length ?? 0, 'finding', '#points'],
    [result.deniedCount, 'denied action', '#points'],
    [result.flags.length, 'flag', '#points'],
    [result.preexistingFailures.length, 'earlier failure', '#verify'],
    [result.unverified.length, 'unverified file', '#points'],
    [result.unexplained.length, 'unexplained change', '#points'],
    [result.warnings.length, 'warning', '#points'],
  ];
  const found = points.filter(([count]) => count > 0);
  if (found.length === 0)
    return result.outcome === 'done' && h('p.points.none', 'Nothing was denied, flagged or warned of.');
  const links = found.map(([count, what, href]) => h('li', h('a', { href }, pluralize(count, what))));
  return h('ul.points', { 'aria-label': 'To look at' }, links);
}

/** The last verification, and the results of the same commands before the work. */
export function verifySection(run: Run): HTMLElement {
  const { verify, verifyIn, verifyBaseline, preexistingFailures, flaky, setup, testProof } = run.data.result;
  const before = verifyBaseline ?? [];
  const where =
    verifyIn === 'checkout' ? 'in a fresh checkout of the base with the patch' : 'in the work tree';
  const reports = (title: string, all: readonly CommandReport[]) =>
    all.length > 0 && [h('h3', title), reportsList(all, run)];
  const callout = (said: string, commands: readonly string[]) =>
    commands.length > 0 && h('p.callout', `${said}: ${commands.join(', ')}`);
  return section(
    'verify',
    'Verification',
    verify.length === 0
      ? h('p', 'No verify command ran at the end, so nothing but the model says that the change works.')
      : [h('p', `Run by patchsmith itself ${where}.`), reportsList(verify, run)],
    testProof && [
      h('h3', `Tests of the patch: ${testProof.status.replace('_', ' ')}`),
      h(testProof.status === 'not_proven' ? 'p.callout.warn' : 'p', testProof.why),
      reportsList(testProof.reports, run),
    ],
    callout('Flaky, failed and passed on the same files', flaky),
    callout('Failed as before the work', preexistingFailures),
    reports('Before the work', before),
    reports('Setup', setup),
  );
}

/** Whether a command ended by itself, and well. */
export function hasPassed({ exitCode, timedOut, interrupted }: CommandReport['end']): boolean {
  return exitCode === 0 && !timedOut && !interrupted;
}

/** Commands and how they ended. The output of failed ones is shown open. */
export function reportsList(reports: readonly CommandReport[], { data }: Run): HTMLElement {
  return h(
    'div.reports',
    reports.map(({ command, end, output }) => {
      const isOld = data.result.preexistingFailures.includes(command);
      const [kind, word] = hasPassed(end)
        ? ['passed good', 'passed']
        : isOld
          ? ['old warn', 'failed before']
          : ['broken bad', 'failed'];
      const state = `${endOf(end)} · ${duration(end.durationMs)}`;
      return folded(
        { class: `report ${kind}`, open: !hasPassed(end) },
        [h('span.badge', word), h('code', command), h('span.state', state)],
        () =>
          output.trim() === '' ? h('p.note', 'It printed nothing.') : block(output, `Output of ${command}`),
      );
    }),
  );
}

function endOf({ timedOut, interrupted, exceeded, signal, exitCode }: CommandReport['end']): string {
  if (interrupted) return 'interrupted';
  if (timedOut) return 'timed out';
  if (exceeded !== undefined) return `killed: over the limit of ${exceeded}`;
  return signal ?? `exit ${exitCode ?? 'unknown'}`;
}
