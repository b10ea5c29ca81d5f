/** The top of the page: how the run ended, why, and what a reviewer has to check. */

import type { RunResult } from '../../src/domain/run/result.ts';
import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { facts, h, put } from '../dom.ts';
import { duration, moment, money, percent } from '../format.ts';
import { allTokens, type Run } from '../run.ts';

/** The colour of each state of a run. */
export type Tone = 'good' | 'warn' | 'bad' | 'plain';

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
  const tone = toneOf(result);
  const section = h('section', {
    id: 'verdict',
    class: `verdict ${tone}`,
    'aria-labelledby': 'verdict-title',
  });
  const code =
    result.outcome === null ? 'no outcome yet' : `${result.outcome} · exit ${result.exitCode ?? 'unknown'}`;
  put(
    section,
    h(
      'p',
      { class: 'plan-title' },
      run.started?.replayOf ? 'Replay of ' : null,
      result.plan?.title ?? 'No plan',
    ),
    h(
      'h1',
      { id: 'verdict-title' },
      h('span', { class: 'outcome' }, WORDS[result.outcome ?? ''] ?? 'Running'),
      ' ',
      h('code', { class: 'exit' }, code),
    ),
    h(
      'p',
      { class: 'reason' },
      result.reason || (result.outcome === null ? 'The run had not ended.' : 'No reason was given.'),
    ),
  );
  if (result.status === 'running')
    put(
      section,
      h(
        'p',
        { class: 'callout warn' },
        `This page shows the run as it was at ${moment(madeAt)}, while it went on.`,
      ),
    );
  for (const end of result.superseded)
    put(
      section,
      h(
        'p',
        { class: 'callout' },
        `Resumed after it had ended as ${end.outcome ?? 'running'}: ${end.reason}`,
      ),
    );
  put(
    section,
    figures(run),
    pointsOf(run),
    notes.length > 0 && h('p', { class: 'callout warn' }, 'Not in this page: ', notes.join(' ')),
  );
  if (result.summary !== '')
    put(
      section,
      h(
        'figure',
        { class: 'claim' },
        h('blockquote', {}, result.summary),
        h('figcaption', {}, "The model's own summary. It is no evidence."),
      ),
    );
  return section;
}

function toneOf({ outcome, exitCode }: RunResult): Tone {
  if (outcome === null) return 'plain';
  if (exitCode === 0) return outcome === 'done' ? 'good' : 'plain';
  return ['limit_reached', 'deadline', 'interrupted', 'blocked'].includes(outcome) ? 'warn' : 'bad';
}

function figures({ data: { result }, started, iterations }: Run): HTMLElement {
  const { tokens, costUsd, durations, verify, verifyIn, changedFiles, model, provider } = result;
  const prompt = allTokens(tokens) - tokens.output;
  const passed = verify.filter(({ end }) => end.exitCode === 0 && !end.timedOut && !end.interrupted).length;
  const turns = Math.max(result.iterations, iterations.length - 1);
  const limits = started?.limits;
  const of = (limit: number | null | undefined, text: (value: number) => string) =>
    limit == null ? '' : ` of ${text(limit)}`;
  const cost = `${money(costUsd)}${provider === 'replay' ? ' when it was recorded' : ''}${result.estimated ? ' (estimated)' : ''}`;
  const lines = (name: 'additions' | 'deletions') =>
    formatNumber(changedFiles.reduce((sum, file) => sum + (file[name] ?? 0), 0));
  return h(
    'div',
    { class: 'figures' },
    facts([
      [
        'Changes',
        changedFiles.length === 0
          ? 'none'
          : `${pluralize(changedFiles.length, 'file')}, +${lines('additions')} −${lines('deletions')}`,
      ],
      [
        'Verified',
        verify.length === 0
          ? 'by nothing'
          : `${passed} of ${pluralize(verify.length, 'command')} passed${verifyIn === 'checkout' ? ' in a fresh checkout' : ''}`,
      ],
      ['Iterations', `${turns}${of(limits?.maxIterations, formatNumber)}`],
      [
        'Time',
        durations.totalMs > 0 ? `${duration(durations.totalMs)}${of(limits?.deadlineMs, duration)}` : null,
      ],
      ['Cost', model === null ? null : `${cost}${of(limits?.maxCostUsd, money)}`],
      [
        'Tokens',
        prompt === 0 ? null : `${formatNumber(allTokens(tokens))}${of(limits?.maxTotalTokens, formatNumber)}`,
      ],
      ['From the cache', prompt === 0 ? null : `${percent(tokens.cacheRead, prompt)} of the prompts`],
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
    return (
      result.outcome === 'done' &&
      h('p', { class: 'points none' }, 'Nothing was denied, flagged or warned of.')
    );
  return h(
    'ul',
    { class: 'points', 'aria-label': 'To look at' },
    found.map(([count, what, href]) => h('li', {}, h('a', { href }, pluralize(count, what)))),
  );
}
