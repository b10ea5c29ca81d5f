/** What the live view shows at one moment, as lines that fit the terminal. Pure. */

import truncate from 'cli-truncate';
import width from 'string-width';
import { totalTokens } from '../../../domain/conversation/conversation.ts';
import type { RunState } from '../../../domain/run/state.ts';
import { formatNumber } from '../../../domain/text/format-number.ts';
import { withinLine } from '../../../domain/text/terminal.ts';
import type { Doing } from './under-way.ts';

/** The state of a run in numbers. */
export type Standing = Pick<
  RunState,
  'iterations' | 'limits' | 'startedAt' | 'usage' | 'costUsd' | 'isEstimated'
>;

/** Everything in a frame. Secrets are redacted; other text may be anything. */
export interface Moment {
  /** Null before the work has begun. */
  readonly standing: Standing | null;
  readonly now: number;
  readonly doing: readonly Doing[];
  /** The last words of the model's answer in progress; empty for none. */
  readonly words: string;
  /** How many paths were changed, and the latest of them, newest first. */
  readonly changed: { readonly count: number; readonly last: readonly string[] };
}

/** In columns and rows. */
export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Further activities are only counted. */
const MAX_DOING = 3;

/** At most six lines, none as wide as the terminal; fewer if it is low. */
export function frameOf(moment: Moment, { columns, rows }: TerminalSize): string[] {
  const room = Math.max(10, columns - 1);
  const { standing, now, doing, words, changed } = moment;
  const [first, ...others] = doing;
  const shown = [first, ...others.slice(0, MAX_DOING - 1)].filter((each) => each !== undefined);
  const more = doing.length - shown.length;
  const lines = [
    ...(standing === null ? [] : [standingLine(standing, now)]),
    ...shown.map((each, at) =>
      doingLine(each, room, at === MAX_DOING - 1 && more > 0 ? ` and ${more} more` : ''),
    ),
    ...(words.trim() === '' ? [] : [`  │ ${flat(words.trim())}`]),
    ...(changed.count === 0 ? [] : [changedLine(changed, room)]),
  ];
  return lines.slice(0, Math.max(1, rows - 2)).map((line) => truncate(line, room));
}

/** `── iteration 3 of 25 · 2:05 of 30:00 · $0.12 of $2.00 · 41,200 of 500,000 tokens`. */
export function standingLine(standing: Standing, now: number): string {
  const { iterations, limits, startedAt, usage, costUsd, isEstimated } = standing;
  const { maxIterations, maxTotalTokens, maxCostUsd, deadlineMs } = limits;
  const tokens = formatNumber(totalTokens(usage));
  const cap = maxTotalTokens === null ? '' : ` of ${formatNumber(maxTotalTokens)}`;
  const about = isEstimated ? '~' : '';
  const cost = costUsd === null ? 'cost unknown' : `${about}$${costUsd.toFixed(2)}`;
  return [
    `── iteration ${iterations} of ${maxIterations}`,
    `${clockTime(now - startedAt)} of ${clockTime(deadlineMs)}`,
    `${cost}${maxCostUsd === null || costUsd === null ? '' : ` of $${maxCostUsd.toFixed(2)}`}`,
    `${about}${tokens}${cap} tokens`,
  ].join(' · ');
}

/** Cuts the label, so that the duration stays readable. */
function doingLine({ label, forMs, timeoutMs, detail }: Doing, room: number, more: string): string {
  const time = `${seconds(forMs)}${timeoutMs === null ? '' : ` of ${seconds(timeoutMs)}`}`;
  const end = ` · ${[time, ...(detail === '' ? [] : [detail])].join(' · ')}${more}`;
  return `  › ${truncate(flat(label), Math.max(8, room - 4 - width(end)))}${end}`;
}

/** As many of the last paths as fit, and how many there are in all. */
function changedLine({ count, last }: Moment['changed'], room: number): string {
  const paths = last.map(flat);
  for (let shown = paths.length; shown > 1; shown -= 1) {
    const rest = count - shown;
    const line = `  changed: ${paths.slice(0, shown).join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
    if (width(line) <= room) return line;
  }
  const end = count === 1 ? '' : ` and ${count - 1} more`;
  const [newest = ''] = paths;
  return `  changed: ${truncate(newest, Math.max(8, room - 11 - width(end)), { position: 'start' })}${end}`;
}

/** The width of a tab depends on the terminal. */
function flat(text: string): string {
  return withinLine(text).replaceAll('\t', ' ');
}

function seconds(ms: number): string {
  return `${Math.floor(ms / 1_000)} s`;
}

/** `2:05`, `1:02:05`. */
function clockTime(ms: number): string {
  const all = Math.max(0, Math.floor(ms / 1_000));
  const two = (n: number) => String(n).padStart(2, '0');
  const [hours, minutes, rest] = [Math.floor(all / 3_600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}
