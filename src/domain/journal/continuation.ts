/** Whether a stopped run can continue, and with which flags. */

import { LIMITS } from '../run/decide-outcome.ts';
import type { Limits, StopReason } from '../run/limits.ts';
import type { RunState } from '../run/state.ts';
import { stopReason } from '../run/stop-reason.ts';
import { printedWord } from '../shell-word.ts';

/**
 * Why a run would stop again as soon as it is resumed; null if it can continue. `stopped` is its final state, `resumed` the one
 * after `run.resumed`.
 */
export function whyStillStopped(
  stopped: Pick<RunState, 'stop'>,
  resumed: RunState,
): Exclude<StopReason, { why: 'interrupted' }> | null {
  const again = stopReason(resumed, resumed.limits);
  // Work that was done when a signal came lacks nothing but its end.
  const lacksItsEnd = stopped.stop === null || stopped.stop.why === 'interrupted';
  if (again === null || again.why === 'interrupted') return null;
  return lacksItsEnd && resumed.phase.at === 'ended' ? null : again;
}

/** The flags with which a run that stopped for this reason can continue, as typed; null if it finished by itself. */
export function flagsToContinue(stop: StopReason, { fixRounds }: Pick<Limits, 'fixRounds'>): string[] | null {
  switch (stop.why) {
    case 'completed':
    case 'blocked':
    case 'unready':
      return null;
    case 'interrupted':
      return [];
    case 'provider':
      return stop.kind === 'recording' ? null : [];
    case 'verify_failed':
      return [`--fix-rounds ${fixRounds + 3}`];
    case 'deadline':
      return [`--deadline ${(2 * stop.valueMs) / 1_000}s`];
    case 'limit':
      return flagsAboveLimit(stop);
  }
}

/** Twice of what there was, or of what was used or needed at once: how much it takes is for people to know. */
function flagsAboveLimit({ limit, value, used, needed = 0 }: StopReason & { why: 'limit' }): string[] | null {
  const { flag } = LIMITS[limit];
  const twice = 2 * Math.max(value, used + needed);
  if (flag === null) return null;
  return flag === '' ? [] : [`${flag} ${limit === 'cost_usd' ? Math.ceil(twice * 100) / 100 : twice}`];
}

/** Flags that the command takes with their values as they were typed: a text, several of them, or true for a switch. */
export type TypedFlags = Readonly<Record<string, unknown>>;

/**
 * After a command that was printed by a process that does not know with which flags the run began; a comment for a shell. What a
 * run directory says of them is not repeated: it may come from anywhere.
 */
export const AGREE_AGAIN = '# resume names the flags to repeat, if any';

/** The command that resumes a run. `more` are flags as typed (`--deadline 60s`), which replace those of the same name. */
export function resumeCommand(path: string, typed: TypedFlags, more: readonly string[] = []): string {
  return printedCommand('resume', path, typed, more);
}

/** The command that publishes a run. */
export function publishCommand(path: string, typed: TypedFlags): string {
  return printedCommand('publish', path, typed, []);
}

function printedCommand(name: string, path: string, typed: TypedFlags, more: readonly string[]): string {
  const replaced = new Set(more.map((flag) => flag.split(' ', 1)[0]));
  const kept = Object.entries(typed).flatMap(([name, value]) =>
    replaced.has(`--${name}`) ? [] : wordsOf(name, value),
  );
  const words = [`patchsmith ${name}`, printedWord(path), ...kept, ...more];
  // A secret is printed as ***, with which the command would be another one.
  return [...words, ...(words.join(' ').includes('***') ? ['# with the secret in place of ***'] : [])].join(
    ' ',
  );
}

function wordsOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => wordsOf(name, one));
  if (typeof value === 'boolean') return [value ? `--${name}` : `--${name}=false`];
  const text = String(value);
  return [`--${name}${text.startsWith('-') ? '=' : ' '}${printedWord(text)}`];
}
