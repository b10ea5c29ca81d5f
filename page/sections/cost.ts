/** Tokens, cache share and cost of every request, as three plots over one axis, and the same as a table. */

import { formatNumber } from '../../src/domain/text/format-number.ts';
import { folded, h, put, s } from '../dom.ts';
import { duration, money, percent, short } from '../format.ts';
import { type Asked, allTokens, type Run, type Tokens } from '../run.ts';

const PARTS = [
  ['read', 'from the cache', ({ cacheRead }: Tokens) => cacheRead],
  ['written', 'into the cache', ({ cacheWrite, cacheWrite1h }: Tokens) => cacheWrite + cacheWrite1h],
  ['new', 'not cached', ({ input }: Tokens) => input],
  ['answer', 'answer', ({ output }: Tokens) => output],
] as const;

const HEIGHT = 110;
const GAP = 30;
const LEFT = 60;
const RIGHT = 6;

/** The section; it says so where nothing was counted. */
export function costSection({ asked, data: { result } }: Run): HTMLElement {
  const section = h(
    'section',
    { id: 'cost', 'aria-labelledby': 'cost-title' },
    h('h2', { id: 'cost-title' }, 'Tokens and cost'),
  );
  if (!asked.some(({ tokens }) => allTokens(tokens) > 0)) {
    put(section, h('p', {}, 'No tokens were counted: no model was asked, or its provider counts none.'));
    return section;
  }
  const total = allTokens(result.tokens);
  const all = `${short(total)} tokens in ${formatNumber(asked.length)} requests for ${money(result.costUsd)}.`;
  const readout = h(
    'p',
    { class: 'readout', 'aria-live': 'polite' },
    `${all} Point at a request, or focus the plot and use the arrow keys.`,
  );
  const holder = h('div', {
    class: 'plot',
    tabindex: 0,
    role: 'img',
    'aria-label': `Tokens, share of the prompt from the cache and cost, request by request. ${all} The table below has the figures.`,
    'aria-describedby': 'cost-readout',
  });
  readout.id = 'cost-readout';
  let chosen = -1;
  const choose = (at: number) => {
    const request = asked[at];
    if (request === undefined) return;
    chosen = at;
    readout.textContent = inWords(request);
    const cursor = holder.querySelector('.cursor');
    const x = xOf(asked, holder.clientWidth);
    cursor?.setAttribute('x', String(x(at)));
    cursor?.setAttribute('visibility', 'visible');
  };
  holder.addEventListener('pointermove', ({ clientX }) => {
    const inside = clientX - holder.getBoundingClientRect().left - LEFT;
    choose(Math.min(asked.length - 1, Math.max(0, Math.floor(inside / stepOf(asked, holder.clientWidth)))));
  });
  holder.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, Home: -asked.length, End: asked.length }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    choose(Math.min(asked.length - 1, Math.max(0, chosen + step)));
  });
  let drawn = 0;
  new ResizeObserver(() => {
    if (holder.clientWidth === drawn || holder.clientWidth === 0) return;
    drawn = holder.clientWidth;
    holder.replaceChildren(plots(asked, drawn));
    choose(chosen);
  }).observe(holder);
  put(
    section,
    legend(),
    holder,
    readout,
    folded({ class: 'part' }, ['All requests as a table'], () => [table(asked)]),
  );
  return section;
}

function legend(): HTMLElement {
  return h(
    'p',
    { class: 'legend' },
    PARTS.map(([kind, name]) =>
      h('span', { class: 'key' }, h('i', { class: `tokens ${kind}` }), ` ${name} `),
    ),
  );
}

function inWords({ n, tokens, costUsd, ms, isLost }: Asked): string {
  const prompt = allTokens(tokens) - tokens.output;
  const parts = PARTS.map(([, name, count]) => `${formatNumber(count(tokens))} ${name}`).join(', ');
  return `Iteration ${n}${isLost ? ', an attempt that failed' : ''}: ${parts}; ${percent(tokens.cacheRead, prompt)} of the prompt from the cache; ${money(costUsd)}${ms > 0 ? `; ${duration(ms)}` : ''}.`;
}

function stepOf(asked: readonly Asked[], width: number): number {
  return (width - LEFT - RIGHT) / asked.length;
}

function xOf(asked: readonly Asked[], width: number): (at: number) => number {
  const step = stepOf(asked, width);
  return (at) => LEFT + at * step;
}

function plots(asked: readonly Asked[], width: number): SVGElement {
  const x = xOf(asked, width);
  const step = stepOf(asked, width);
  const bar = Math.max(0.5, Math.min(step * 0.8, 36));
  const shift = (step - bar) / 2;
  const heights = 3 * (HEIGHT + GAP);
  const picture = s('svg', {
    width,
    height: heights,
    viewBox: `0 0 ${width} ${heights}`,
    'aria-hidden': 'true',
  });
  put(
    picture,
    s('rect', {
      class: 'cursor',
      visibility: 'hidden',
      y: 0,
      width: Math.max(step, 1),
      height: heights - GAP / 2,
    }),
  );
  const panel = (at: number, title: string, most: number, format: (value: number) => string) => {
    const top = at * (HEIGHT + GAP) + 24;
    const y = (value: number) => top + (HEIGHT - 24) * (1 - value / most);
    for (const value of [0, most / 2, most]) {
      put(picture, s('line', { class: 'grid', x1: LEFT, x2: width - RIGHT, y1: y(value), y2: y(value) }));
      put(
        picture,
        s('text', { class: 'tick', x: LEFT - 6, y: y(value) + 4, 'text-anchor': 'end' }, format(value)),
      );
    }
    put(picture, s('text', { class: 'title', x: 0, y: top - 12 }, title));
    return y;
  };
  const tokens = panel(0, 'Tokens', niceMost(asked.map((one) => allTokens(one.tokens))), short);
  const share = panel(1, 'Prompt from the cache', 1, (value) => `${Math.round(value * 100)}%`);
  const costs = asked.map(({ costUsd }) => costUsd ?? 0);
  const cost = panel(
    2,
    asked.some(({ costUsd }) => costUsd === null) ? 'Cost (unknown for some)' : 'Cost',
    niceMost(costs),
    axisMoney,
  );
  asked.forEach((one, at) => {
    let sum = 0;
    const left = x(at) + shift;
    for (const [kind, , count] of PARTS) {
      const value = count(one.tokens);
      if (value > 0)
        put(
          picture,
          s('rect', {
            class: `tokens ${kind}`,
            x: left,
            width: bar,
            y: tokens(sum + value),
            height: tokens(sum) - tokens(sum + value),
          }),
        );
      sum += value;
    }
    const prompt = sum - one.tokens.output;
    const part = prompt === 0 ? 0 : one.tokens.cacheRead / prompt;
    put(
      picture,
      s('rect', {
        class: 'tokens read',
        x: left,
        width: bar,
        y: share(part),
        height: share(0) - share(part),
      }),
    );
    const usd = one.costUsd ?? 0;
    put(
      picture,
      s('rect', {
        class: `usd${one.isLost ? ' lost' : ''}`,
        x: left,
        width: bar,
        y: cost(usd),
        height: cost(0) - cost(usd),
      }),
    );
  });
  put(picture, s('text', { class: 'tick', x: LEFT, y: heights - GAP + 26 }, 'iteration 1'));
  put(
    picture,
    s(
      'text',
      { class: 'tick', x: width - RIGHT, y: heights - GAP + 26, 'text-anchor': 'end' },
      asked.length > 1 ? String(asked.at(-1)?.n) : '',
    ),
  );
  return picture;
}

/** The next number that is 1, 2 or 5 times a power of ten, so that half of it is a round number too. */
function niceMost(values: readonly number[]): number {
  const most = Math.max(...values, 0);
  if (most === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}

function axisMoney(value: number): string {
  return value === 0 ? '$0' : `$${Number(value.toPrecision(2))}`;
}

function table(asked: readonly Asked[]): HTMLElement {
  const head = ['Iteration', ...PARTS.map(([, name]) => name), 'cache share', 'cost', 'time'];
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'All requests' },
    h(
      'table',
      { class: 'list' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          head.map((name) => h('th', { scope: 'col', class: 'num' }, name)),
        ),
      ),
      h(
        'tbody',
        {},
        asked.map(({ n, tokens, costUsd, ms, isLost }) =>
          h('tr', {}, [
            h('td', { class: 'num' }, h('a', { href: `#i${n}` }, String(n)), isLost && ' (failed)'),
            ...PARTS.map(([, , count]) => h('td', { class: 'num' }, formatNumber(count(tokens)))),
            h('td', { class: 'num' }, percent(tokens.cacheRead, allTokens(tokens) - tokens.output)),
            h('td', { class: 'num' }, money(costUsd)),
            h('td', { class: 'num' }, ms > 0 ? duration(ms) : ''),
          ]),
        ),
      ),
    ),
  );
}
