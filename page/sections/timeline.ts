/** The iterations as a timeline: one row each on a common clock, with its events below. */

import { formatNumber, pluralize } from '../../src/domain/text/words.ts';
import { block, type Child, facts, folded, h, put, reveal } from '../dom.ts';
import { duration, money, short } from '../format.ts';
import { allTokens, type Call, callKey, type Iteration, type Run, type Span, type SpanKind } from '../run.ts';
import type { MadeBy } from './changes.ts';
import { reportsList } from './verify.ts';

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
export interface Timeline {
  readonly section: HTMLElement;
  /** Opens the parts that contain the element with this id. */
  reveal(id: string): void;
}

/** One row per iteration. Its details are created when the row is opened. */
export function timelineSection(run: Run, madeBy: MadeBy): Timeline {
  const { iterations, length } = run;
  const section = h(
    'section',
    { id: 'timeline', 'aria-labelledby': 'timeline-title' },
    h('h2', { id: 'timeline-title' }, 'Timeline'),
  );
  const rows = new Map<string, HTMLElement>();
  const shown = iterations.filter((one) => one.n > 0 || one.spans.length > 0 || one.notes.length > 0);
  if (shown.length > MANY) section.classList.add('many');
  if (shown.length === 0)
    put(
      section,
      h('p', {}, 'Nothing was recorded: the run ended before its work began, or there is no journal.'),
    );
  else {
    put(section, legend(shown, length), h('div', { class: 'axis', 'aria-hidden': 'true' }, ticks(length)));
    for (const one of shown) {
      const row = rowOf(one, run, madeBy);
      rows.set(String(one.n), row);
      put(section, row);
    }
  }
  return {
    section,
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
  const kinds = (Object.keys(KINDS) as SpanKind[]).filter((kind) => spans.some((span) => span.kind === kind));
  const sum = (kind: SpanKind) =>
    spans.filter((span) => span.kind === kind).reduce((ms, { from, to }) => ms + to - from, 0);
  return h(
    'p',
    { class: 'legend' },
    `${duration(length)} from the first request to the last event. `,
    kinds.map((kind) =>
      h(
        'span',
        { class: 'key' },
        h('i', { class: `span ${kind}` }),
        ` ${KINDS[kind]} ${duration(sum(kind))} `,
      ),
    ),
  );
}

function ticks(length: number): HTMLElement[] {
  return [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const tick = h('span', {}, part === 0 ? '0' : duration(length * part));
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
      h('span', { class: 'n' }, h('span', { class: 'sr' }, n === 0 ? '' : 'Iteration '), name),
      h('span', { class: 'what' }, inWords(one)),
      h('span', { class: 'bar' }, bars(spans, run.length)),
      h('span', { class: 'ms' }, duration(end - begin)),
      h('span', { class: 'tok' }, isCounted && `${short(allTokens(turn.usage))} tok`),
      h('span', { class: 'usd' }, isCounted && money(turn.costUsd)),
    ],
    () => [h('div', { class: 'row-body' }, rowBody(one, run, madeBy))],
  );
}

function inWords({ calls, turn, verified, notes }: Iteration): Child[] {
  const named = calls
    .slice(0, 3)
    .flatMap((call, at): Child[] => [
      at > 0 && ', ',
      h(
        'span',
        { class: call.done?.status === 'failed' ? 'failed' : '' },
        `${call.tool} `,
        h('span', { class: 'about' }, call.about),
      ),
    ]);
  if (calls.length > 3) named.push(` and ${calls.length - 3} more`);
  const failed = verified.some(({ reports }) => reports.some(({ end }) => end.exitCode !== 0));
  if (calls.length === 0)
    named.push(
      turn === null
        ? (notes[0]?.text ?? 'before the first answer')
        : (turn.text.trim().split('\n')[0] ?? turn.stop),
    );
  if (verified.length > 0)
    named.push(
      h('span', { class: failed ? 'failed' : '' }, failed ? ' · verification failed' : ' · verified'),
    );
  return named;
}

function bars(spans: readonly Span[], length: number): HTMLElement[] {
  return spans.map(({ kind, from, to }) => {
    const bar = h('i', { class: `span ${kind}`, title: `${KINDS[kind]}: ${duration(to - from)}` });
    bar.style.left = `${(from / Math.max(length, 1)) * 100}%`;
    bar.style.width = `${((to - from) / Math.max(length, 1)) * 100}%`;
    return bar;
  });
}

function* rowBody({ turn, calls, notes, verified }: Iteration, run: Run, madeBy: MadeBy): Generator<Child> {
  if (turn !== null) {
    const { model, usage, costUsd, ms, stop, text } = turn;
    const { input, output, cacheRead, cacheWrite, cacheWrite1h } = usage;
    yield facts([
      ['Model', model],
      ['Answered in', duration(ms)],
      ['Cost', money(costUsd)],
      [
        'Prompt',
        `${formatNumber(input)} new, ${formatNumber(cacheRead)} from the cache, ${formatNumber(cacheWrite + cacheWrite1h)} into the cache`,
      ],
      [
        'Answer',
        `${pluralize(output, 'token')}${stop === 'tool_use' || stop === 'end_turn' ? '' : `, ended by ${stop}`}`,
      ],
    ]);
    if (text.trim() !== '') yield h('blockquote', { class: 'says' }, text.trim());
  }
  for (const call of calls) yield callPart(call, madeBy);
  for (const { reports } of verified) yield reportsList(reports, run);
  for (const { of, text } of notes)
    if (text !== '') yield h('p', { class: `event ${of.replace('.', '-')}` }, text);
}

function callPart(call: Call, madeBy: MadeBy): HTMLElement {
  const { done, tool, about, anchor, changes, input, iteration, id } = call;
  const state =
    done === null
      ? 'did not end'
      : done.status === 'failed'
        ? `failed: ${done.reason}`
        : (done.end ?? done.status);
  const places = madeBy.get(callKey(iteration, id)) ?? [];
  return folded(
    { class: `call ${done?.status ?? 'open'}`, id: anchor },
    [
      h('code', {}, tool, ' ', about),
      h(
        'span',
        { class: 'state' },
        state,
        done !== null && done.end === null ? ` · ${duration(done.ms)}` : '',
      ),
      places.length > 0 && h('span', { class: 'state' }, pluralize(places.length, 'hunk')),
    ],
    () => [
      h('div', { class: 'call-body' }, [
        places.length > 0 &&
          h(
            'p',
            {},
            'In the patch: ',
            places
              .slice(0, MOST_PLACES)
              .flatMap(({ anchor: to, text }, at) => [at > 0 && ', ', h('a', { href: `#${to}` }, text)]),
            places.length > MOST_PLACES && ` and ${places.length - MOST_PLACES} more`,
          ),
        changes.length > 0 &&
          h(
            'p',
            { class: 'note' },
            'Touched: ',
            changes
              .slice(0, MOST_PLACES)
              .map(({ path, kind, excluded }) => `${path} (${excluded ?? kind})`)
              .join(', '),
          ),
        ...input.flatMap(([name, value]) => [
          h('p', { class: 'label' }, name),
          block(value, `${tool}: ${name}`),
        ]),
        ...(done === null
          ? []
          : [h('p', { class: 'label' }, 'result'), block(done.text || 'left out', `${tool}: result`)]),
      ]),
    ],
  );
}
