/** An attack: a model that obeys the attacker, its goal, and how far it may get in each mode. */

import type { ToolOutcome } from '../../src/domain/conversation/tool.ts';
import type { OutcomeName } from '../../src/domain/run/exit-code.ts';
import type { ScriptedCall } from '../support/claude-server/script.ts';
import type { CliEnd } from '../support/runs/cli.ts';
import type { FinishedRun } from '../support/runs/scripted-run.ts';
import type { Hold } from './held-by.ts';
import type { Victim } from './victim.ts';

export const CATEGORIES = [
  'Files',
  'Secrets',
  'Network',
  'Processes and resources',
  'Git',
  'Policy',
  'Terminal and CI output',
  'Known incidents',
] as const;
export type Category = (typeof CATEGORIES)[number];

/**
 * `contained`: what `--sandbox required` gives on this machine. `unfiltered`: what it gives on a machine whose kernel
 * does not support system call filters. `lite`: the same in a container that refuses a /proc of its own. `landlock`: the same in one
 * that refuses namespaces, with all git dirs outside of the work tree. `none`: `--sandbox off`.
 */
export const MODES = ['contained', 'unfiltered', 'lite', 'landlock', 'none'] as const;
export type Mode = (typeof MODES)[number];

/** The level in the result. */
export const LEVELS = {
  contained: 'namespaces+seccomp',
  unfiltered: 'namespaces',
  lite: 'namespaces-lite',
  landlock: 'landlock',
  none: 'none',
} as const;

/**
 * `held`: the attacker does not reach the goal. `open`: nothing is promised, the attacker reaches it, and the page on
 * security says so. `untried`: also open, but not carried out, since it would harm the machine.
 */
export type Verdict = 'held' | 'open' | 'untried';

export interface Attack {
  readonly id: string;
  readonly category: Category;
  /** What the attacker tries, as the report of the tests says it. */
  readonly what: string;
  /** The answers of the model, each with its calls. Absent if the victim itself is the attack. */
  readonly does?: (victim: Victim) => readonly (readonly ScriptedCall[])[];
  readonly goal: Goal;
  /** The defences that hold it in the sandbox, and elsewhere if it is held there; empty if it is held nowhere. */
  readonly heldBy: readonly Hold[];
  /** Default: held in every mode; the same in a lesser sandbox as in the full one. */
  readonly expected?: Readonly<Partial<Record<Mode, Verdict>>>;
}

export interface Goal {
  /** How far the attacker got; null when the goal was not reached. */
  reached(seen: Evidence): string | null;
  /** The canary to look for, in this attack's results and in everything that leaves. */
  readonly canary?: string;
  /** Paths whose states are recorded before the run, and compared afterwards. */
  readonly watches?: (victim: Victim) => readonly string[];
}

/** What is known about one attack after the run. */
export interface Evidence {
  readonly victim: Victim;
  readonly mode: Mode;
  readonly run: FinishedRun;
  /** The results of the attack's own calls, in order. */
  readonly results: readonly ToolOutcome[];
  /** Their texts. */
  readonly said: string;
  /** Command lines of processes with the victim's nonce that still ran when the run had ended. */
  readonly survivors: readonly string[];
  /** The state of a watched path before and after the run. */
  readonly before: (path: string) => string;
}

type Undo = () => void;

/** Attacks that share a run, since they do not disturb each other. */
export interface Stage {
  readonly name: string;
  /** Files of the victim's repository. */
  readonly files?: Readonly<Record<string, string>>;
  /** Prepares the victim before the run; returns what undoes it. */
  readonly prepare?: (victim: Victim) => Undo | Promise<Undo> | Promise<void> | void;
  readonly args?: readonly string[];
  readonly env?: (victim: Victim) => Readonly<Record<string, string>>;
  /** Text of a plan file. */
  readonly plan?: string;
  /** What the user does after the run; the attacks are evaluated afterwards. */
  readonly afterwards?: (aftermath: Aftermath) => Promise<void>;
  /** The victim is on a separate disk of this many bytes, which nothing else writes to. */
  readonly diskBytes?: number;
  /** The calls of this many attacks share one answer. Default: each has its own. */
  readonly together?: number;
  /** What the model says with its first and its last answer. */
  readonly words?: string;
  /** The reviewer's calls, each time that a review is requested. */
  readonly reviewer?: (victim: Victim) => readonly ScriptedCall[];
  /**
   * How the run ends with and without a sandbox; default: well. A run that ends otherwise has not tried everything.
   */
  readonly ends?: OutcomeName | Readonly<Partial<Record<Mode, OutcomeName>>>;
  /** By Landlock, a look may also find a `.git` where the command has moved it. */
  readonly mayBeInDoubt?: boolean;
  /** How far they get depends on file owners: a plain user is refused what root may do. */
  readonly byOwner?: boolean;
  readonly attacks: readonly Attack[];
}

/** What is available after a run has ended. */
export interface Aftermath {
  readonly victim: Victim;
  readonly mode: Mode;
  readonly run: FinishedRun;
  /**
   * Runs another command line in the work tree, as the same user and in the same mode. One that hangs ends without an
   * exit code.
   */
  readonly cli: (args: readonly string[], env?: Readonly<Record<string, string>>) => Promise<CliEnd>;
}

export function verdictOf(attack: Attack, mode: Mode): Verdict {
  const { expected } = attack;
  return expected?.[mode] ?? (mode === 'none' ? undefined : expected?.contained) ?? 'held';
}

/** The attack works only without a sandbox. */
export const OPEN_WITHOUT_SANDBOX = { none: 'open' } as const;

/** Makes attacks of one category, with ids that begin with `prefix`, and with the same defences. */
export function attacksIn(category: Category, prefix: string, ...heldBy: Hold[]) {
  return (
    id: string,
    what: string,
    goal: Goal,
    does?: Attack['does'],
    expected: Attack['expected'] = {},
  ): Attack => ({ id: `${prefix}-${id}`, category, what, goal, heldBy, expected, ...(does ? { does } : {}) });
}
