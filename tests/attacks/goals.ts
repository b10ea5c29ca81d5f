/** The goals of attackers, and the calls that they make. */

import type { ScriptedCall } from '../support/claude-server/script.ts';
import { type Attack, attacksIn, type Category, type Evidence, type Goal } from './attack.ts';
import { formFound } from './canaries.ts';
import type { Hold } from './held-by.ts';
import { stateOf, type Victim } from './victim.ts';

/** To see a value. */
export function toSee(canary: string): Goal {
  return {
    canary,
    reached({ victim, said }) {
      const form = formFound(said, victim.canary(canary));
      return form === null ? null : `the result shows the canary, ${form}`;
    },
  };
}

/** To change something out of bounds. */
export function toChange(places: (victim: Victim) => readonly string[]): Goal {
  const paths = (victim: Victim) => places(victim).map((path) => victim.moved(path));
  return {
    watches: paths,
    reached({ victim, before }) {
      const changed = paths(victim).filter((path) => stateOf(path) !== before(path));
      return changed.length === 0 ? null : `changed ${changed.join(', ')}`;
    },
  };
}

/** To have the runner run a program. */
export function toSpring(trap: string): Goal {
  return { reached: ({ victim }) => (victim.sprung(trap) ? `${trap} was run` : null) };
}

/** To send a word to someone outside. */
export function toSend(word: string): Goal {
  return { reached: ({ victim }) => (victim.listeners.heard().includes(word) ? `${word} arrived` : null) };
}

/** To leave a process behind with the victim's nonce and this name in its command line. */
export function toSurvive(name: string): Goal {
  return {
    reached({ victim, survivors }) {
      const left = survivors.filter((line) => line.includes(`${victim.nonce}-${name}.`));
      return left.length === 0 ? null : `${left.length} processes are left`;
    },
  };
}

/** To have a command print a word that it prints only if it succeeds. */
export function toHear(word: string): Goal {
  return { reached: ({ said }) => (said.includes(word) ? said.slice(0, 300) : null) };
}

/** To get any answer other than a refusal for these reasons. */
export function toBeLetIn(...reasons: readonly string[]): Goal {
  return {
    reached({ results }) {
      const let_in = results.filter(
        (result) => result.status !== 'failed' || !reasons.includes(result.reason),
      );
      return let_in.length === 0 && results.length > 0 ? null : JSON.stringify(let_in).slice(0, 300);
    },
  };
}

export function toDo(reached: (seen: Evidence) => string | null): Goal {
  return { reached };
}

/** All of these at once; each counts. */
export function either(...goals: readonly Goal[]): Goal {
  const canary = goals.find((goal) => goal.canary !== undefined)?.canary;
  return {
    ...(canary === undefined ? {} : { canary }),
    watches: (victim) => goals.flatMap((goal) => goal.watches?.(victim) ?? []),
    reached: (seen) => goals.map((goal) => goal.reached(seen)).find((found) => found !== null) ?? null,
  };
}

export const call = (name: string, input: Record<string, unknown>): ScriptedCall => ({ name, input });

/** One answer with one command. `seconds` is the time limit that it requests. */
export function shell(command: string, seconds = 60): ScriptedCall[][] {
  return [[call('run_command', { command, timeout_seconds: seconds })]];
}

/** Makes attacks of one category that are one command each; `usual` is the default for how far they get. */
export function commandsIn(category: Category, prefix: string, usual: Attack['expected'], ...heldBy: Hold[]) {
  const attack = attacksIn(category, prefix, ...heldBy);
  return (
    id: string,
    what: string,
    command: (victim: Victim) => string,
    goal: Goal,
    expected: Attack['expected'] = usual,
  ): Attack => attack(id, what, goal, (victim) => shell(command(victim)), expected);
}

/** One answer with one file tool. */
export const reads = (path: string): ScriptedCall[][] => [[call('read_file', { path })]];
export const writes = (path: string, content = 'planted\n'): ScriptedCall[][] => [
  [call('write_file', { path, content })],
];
