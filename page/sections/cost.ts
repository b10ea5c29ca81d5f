/** Tokens, cache share and cost of every request, as a table. */

import { formatNumber } from '../../src/domain/text/words.ts';
import { folded, h, put } from '../dom.ts';
import { duration, money, percent, short } from '../format.ts';
import { type Asked, allTokens, type Run, type Tokens } from '../run.ts';

const PARTS = [
  ['from the cache', ({ cacheRead }: Tokens) => cacheRead],
  ['into the cache', ({ cacheWrite, cacheWrite1h }: Tokens) => cacheWrite + cacheWrite1h],
  ['not cached', ({ input }: Tokens) => input],
  ['answer', ({ output }: Tokens) => output],
] as const;

/** With more requests than this, the table starts collapsed. */
const FEW = 30;

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
  put(
    section,
    h('p', {}, all),
    folded({ class: 'part', open: asked.length <= FEW }, ['All requests'], () => [table(asked)]),
  );
  return section;
}

function table(asked: readonly Asked[]): HTMLElement {
  const head = ['Iteration', ...PARTS.map(([name]) => name), 'cache share', 'cost', 'time'];
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
            ...PARTS.map(([, count]) => h('td', { class: 'num' }, formatNumber(count(tokens)))),
            h('td', { class: 'num' }, percent(tokens.cacheRead, allTokens(tokens) - tokens.output)),
            h('td', { class: 'num' }, money(costUsd)),
            h('td', { class: 'num' }, ms > 0 ? duration(ms) : ''),
          ]),
        ),
      ),
    ),
  );
}
