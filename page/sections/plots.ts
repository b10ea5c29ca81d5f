/** The three plots of tokens, cache share and cost, over one axis of requests. */

import { put, s } from '../dom.ts';
import { short } from '../format.ts';
import { type Asked, allTokens, type Tokens } from '../run.ts';

/** What the tokens of a request consist of: class, name and number. */
export const PARTS = [
  ['read', 'from the cache', ({ cacheRead }: Tokens) => cacheRead],
  ['written', 'into the cache', ({ cacheWrite, cacheWrite1h }: Tokens) => cacheWrite + cacheWrite1h],
  ['new', 'not cached', ({ input }: Tokens) => input],
  ['answer', 'answer', ({ output }: Tokens) => output],
] as const;

const HEIGHT = 110;
const GAP = 30;
/** Where the plots begin, in CSS pixels. */
export const LEFT = 60;
const RIGHT = 6;

/** The width of a request, in CSS pixels. */
export function stepOf(asked: readonly Asked[], width: number): number {
  return (width - LEFT - RIGHT) / asked.length;
}

/** Where a request begins, by its number from 0. */
export function xOf(asked: readonly Asked[], width: number): (at: number) => number {
  const step = stepOf(asked, width);
  return (at) => LEFT + at * step;
}

/** The picture, without words for those who cannot see it. */
export function plots(asked: readonly Asked[], width: number): SVGElement {
  const step = stepOf(asked, width);
  const height = 3 * (HEIGHT + GAP);
  const picture = s('svg', {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    'aria-hidden': 'true',
  });
  const size = { y: 0, width: Math.max(step, 1), height: height - GAP / 2 };
  put(picture, s('rect', { class: 'cursor', visibility: 'hidden', ...size }));
  const panel = (at: number, scale: Scale) => panelOn(picture, width, { at, ...scale });
  const costs = asked.map(({ costUsd }) => costUsd ?? 0);
  const isUnknown = asked.some(({ costUsd }) => costUsd === null);
  const heights = {
    tokens: panel(0, {
      title: 'Tokens',
      most: niceMost(asked.map((one) => allTokens(one.tokens))),
      format: short,
    }),
    share: panel(1, {
      title: 'Prompt from the cache',
      most: 1,
      format: (value) => `${Math.round(value * 100)}%`,
    }),
    cost: panel(2, {
      title: isUnknown ? 'Cost (unknown for some)' : 'Cost',
      most: niceMost(costs),
      format: axisMoney,
    }),
  };
  const bar = Math.max(0.5, Math.min(step * 0.8, 36));
  const x = xOf(asked, width);
  asked.forEach((one, at) => {
    put(picture, barsOf(one, { x: x(at) + (step - bar) / 2, width: bar }, heights));
  });
  const y = height - GAP + 26;
  const last = asked.length > 1 ? String(asked.at(-1)?.n) : '';
  put(picture, s('text', { class: 'tick', x: LEFT, y }, 'iteration 1'));
  put(picture, s('text', { class: 'tick', x: width - RIGHT, y, 'text-anchor': 'end' }, last));
  return picture;
}

interface Scale {
  readonly title: string;
  /** The value at the top. */
  readonly most: number;
  readonly format: (value: number) => string;
}

/** Says how high in the picture a value is. */
type HeightOf = (value: number) => number;

/** Draws title, lines and ticks of one plot. */
function panelOn(
  picture: SVGElement,
  width: number,
  { at, title, most, format }: Scale & { readonly at: number },
): HeightOf {
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
}

/** The bars of one request in all three plots. */
function barsOf(
  { tokens, costUsd, isLost }: Asked,
  place: { readonly x: number; readonly width: number },
  heights: { readonly tokens: HeightOf; readonly share: HeightOf; readonly cost: HeightOf },
): SVGElement[] {
  const bar = (kind: string, height: HeightOf, from: number, to: number) =>
    s('rect', { class: kind, ...place, y: height(to), height: height(from) - height(to) });
  let sum = 0;
  const stack: SVGElement[] = [];
  for (const [kind, , count] of PARTS) {
    const value = count(tokens);
    if (value > 0) stack.push(bar(`tokens ${kind}`, heights.tokens, sum, sum + value));
    sum += value;
  }
  const prompt = sum - tokens.output;
  const share = prompt === 0 ? 0 : tokens.cacheRead / prompt;
  return [
    ...stack,
    bar('tokens read', heights.share, 0, share),
    bar(`usd${isLost ? ' lost' : ''}`, heights.cost, 0, costUsd ?? 0),
  ];
}

/** The next larger number that is 1, 2 or 5 times a power of ten, so that half of it is round as well. */
function niceMost(values: readonly number[]): number {
  const most = Math.max(...values, 0);
  if (most === 0) return 1;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5, 10].find((step) => step * power >= most) ?? 10) * power;
}

function axisMoney(value: number): string {
  return value === 0 ? '$0' : `$${Number(value.toPrecision(2))}`;
}
