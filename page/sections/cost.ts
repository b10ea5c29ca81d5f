/** Tokens, cache share and cost of every request, as three plots with a common axis and as a table. */

import { formatNumber } from '../../src/domain/text/format-number.ts';
import { folded, h, put } from '../dom.ts';
import { duration, money, percent, short } from '../format.ts';
import { type Asked, allTokens, type Run } from '../run.ts';
import { LEFT, PARTS, plots, stepOf, xOf } from './plots.ts';

/** The section. Says so if nothing was counted. */
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
