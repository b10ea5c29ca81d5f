/** The iterations as a timeline: one row each on a common clock, with its events below. */

import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { block, type Child, facts, folded, h, reveal, section } from '../dom.ts';
import { duration, money, short } from '../format.ts';
import { allTokens, type Call, callKey, type Iteration, type Run, type Span, type SpanKind } from '../run.ts';
import type { MadeBy } from './changes.ts';
import { reportsList } from './verdict.ts';

const KINDS: Readonly<Record<SpanKind, string>> = {
  model: 'model',
  wait: 'waiting to try again',
  tool: 'tool',
  command: 'command',
  verify: 'verification',
};

/** Maximum number of places in the patch listed for a call; the rest is only counted. */
const MOST_PLACES = 20;

/** With more rows than this, only visible ones are laid out. */
const MANY = 50;

/** The section, and how to reveal a call or an iteration. */
interface Timeline {
  readonly section: HTMLElement;
  /** Opens the parts that contain the element with this id. */
  reveal(id: string): void;
}

/** One row per iteration. Its details are created when the row is opened. */
export function timelineSection(run: Run, madeBy: MadeBy): Timeline {
  const { iterations, length } = run;
  const shown = iterations.filter((one) => one.n > 0 || one.spans.length > 0 || one.notes.length > 0);
  const rows = new Map(shown.map((one) => [String(one.n), rowOf(one, run, madeBy)]));
  const nothing = 'Nothing was recorded: the run ended before its work began, or there is no journal.';
  const made = section(
    'timeline',
    'Timeline',
    shown.length === 0
      ? h('p', nothing)
      : [legend(shown, length), h('div.axis', { 'aria-hidden': 'true' }, ticks(length)), ...rows.values()],
  );
  made.classList.toggle('many', shown.length > MANY);
  return {
    section: made,
    reveal(id) {
      const [, n = ''] = /^[ic](\d+)/.exec(id) ?? [];
      const row = rows.get(n);
      if (row === undefined) return;
      reveal(row);
      const call = document.getElementById(id);
      if (call?.matches('details')) reveal(call);
    },
  };
}

function legend(shown: readonly Iteration[], length: number): HTMLElement {
  const spans = shown.flatMap((one) => one.spans);
  const keys = (Object.keys(KINDS) as SpanKind[]).flatMap((kind) => {
    const own = spans.filter((span) => span.kind === kind);
    const ms = own.reduce((sum, { from, to }) => sum + to - from, 0);
    return own.length === 0 ? [] : [h('span.key', h(`i.span.${kind}`), ` ${KINDS[kind]} ${duration(ms)} `)];
  });
  return h('p.legend', `${duration(length)} from the first request to the last event. `, keys);
}

function ticks(length: number): HTMLElement[] {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const tick = h('span', part === 0 ? '0' : duration(length * part));
    tick.style.left = `${part * 100}%`;
    return tick;
  });
}

function rowOf(one: Iteration, run: Run, madeBy: MadeBy): HTMLDetailsElement {
  const { n, turn, spans } = one;
  const name = n === 0 ? 'start' : String(n);
  const isCounted = turn !== null && allTokens(turn.usage) > 0;
  const end = Math.max(...spans.map(({ to }) => to), 0);
  const begin = Math.min(...spans.map(({ from }) => from), end);
  return folded(
    { class: 'row', id: `i${n}` },
    [
      h('span.n', h('span.sr', n === 0 ? '' : 'Iteration '), name),
      h('span.what', inWords(one)),
      h('span.bar', bars(spans, run.length)),
      h('span.ms', duration(end - begin)),
      h('span.tok', isCounted && `${short(allTokens(turn.usage))} tok`),
      h('span.usd', isCounted && money(turn.costUsd)),
    ],
    () => h('div.row-body', rowBody(one, run, madeBy)),
  );
}

function inWords({ calls, turn, verified, notes }: Iteration): Child[] {
  const named = calls.slice(0, 3).flatMap(({ tool, about, done }, at): Child[] => {
    const name = done?.status === 'failed' ? 'span.failed' : 'span';
    return [at > 0 && ', ', h(name, `${tool} `, h('span.about', about))];
  });
  if (calls.length > 3) named.push(` and ${calls.length - 3} more`);
  if (calls.length === 0 && turn === null) named.push(notes[0]?.text ?? 'before the first answer');
  else if (calls.length === 0) named.push(turn?.text.trim().split('\n')[0] ?? turn?.stop);
  if (verified.length === 0) return named;
  const failed = verified.some(({ reports }) => reports.some(({ end }) => end.exitCode !== 0));
  return [...named, failed ? h('span.failed', ' · verification failed') : h('span', ' · verified')];
}

function bars(spans: readonly Span[], length: number): HTMLElement[] {
  const percent = (ms: number) => `${(ms / Math.max(length, 1)) * 100}%`;
  return spans.map(({ kind, from, to }) => {
    const bar = h(`i.span.${kind}`, { title: `${KINDS[kind]}: ${duration(to - from)}` });
    bar.style.left = percent(from);
    bar.style.width = percent(to - from);
    return bar;
  });
}

function* rowBody({ turn, calls, notes, verified }: Iteration, run: Run, madeBy: MadeBy): Generator<Child> {
  if (turn !== null) {
    const { model, usage, costUsd, ms, stop, text } = turn;
    const { input, output, cacheRead, cacheWrite, cacheWrite1h } = usage;
    const prompt = [
      `${formatNumber(input)} new`,
      `${formatNumber(cacheRead)} from the cache`,
      `${formatNumber(cacheWrite + cacheWrite1h)} into the cache`,
    ];
    const end = stop === 'tool_use' || stop === 'end_turn' ? '' : `, ended by ${stop}`;
    yield facts([
      ['Model', model],
      ['Answered in', duration(ms)],
      ['Cost', money(costUsd)],
      ['Prompt', prompt.join(', ')],
      ['Answer', `${pluralize(output, 'token')}${end}`],
    ]);
    if (text.trim() !== '') yield h('blockquote.says', text.trim());
  }
  for (const call of calls) yield callPart(call, madeBy);
  for (const { reports } of verified) yield reportsList(reports, run);
  for (const { of, text } of notes) if (text !== '') yield h(`p.event.${of.replace('.', '-')}`, text);
}

function callPart(call: Call, madeBy: MadeBy): HTMLElement {
  const { done, tool, about, anchor, changes, input, iteration, id } = call;
  const state = `${endOf(done)}${done?.end === null ? ` · ${duration(done.ms)}` : ''}`;
  const places = madeBy.get(callKey(iteration, id)) ?? [];
  const links = places
    .slice(0, MOST_PLACES)
    .flatMap(({ anchor: to, text }, at) => [at > 0 && ', ', h('a', { href: `#${to}` }, text)]);
  const more = places.length > MOST_PLACES && ` and ${places.length - MOST_PLACES} more`;
  const touched = changes
    .slice(0, MOST_PLACES)
    .map(({ path, kind, excluded }) => `${path} (${excluded ?? kind})`);
  const labelled = (name: string, text: string) => [h('p.label', name), block(text, `${tool}: ${name}`)];
  const hunks = places.length > 0 && h('span.state', pluralize(places.length, 'hunk'));
  return folded(
    { class: `call ${done?.status ?? 'open'}`, id: anchor },
    [h('code', tool, ' ', about), h('span.state', state), hunks],
    () =>
      h(
        'div.call-body',
        places.length > 0 && h('p', 'In the patch: ', links, more),
        touched.length > 0 && h('p.note', 'Touched: ', touched.join(', ')),
        input.flatMap(([name, value]) => labelled(name, value)),
        done !== null && labelled('result', done.text || 'left out'),
      ),
  );
}

function endOf(done: Call['done']): string {
  if (done === null) return 'did not end';
  return done.status === 'failed' ? `failed: ${done.reason}` : (done.end ?? done.status);
}
