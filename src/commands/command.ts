/** What a command is, and what it receives from the command line. */

import type { SettingKey } from '../config/schema.ts';
import type { Problem } from '../domain/errors/problem.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';

/** One command: its help, its arguments, and how it starts. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The command line and what it is for. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** Names of the operands, such as `RUN`; one in brackets is optional. */
  readonly operands: readonly string[];
  /** The settings it accepts, as flags and variables. */
  readonly settings: readonly SettingKey[];
  /** Its values of `--output`, if it has fewer than a run: each with its meaning, and the default. */
  readonly output?: { readonly value: string; readonly help: string; readonly initial: string };
  /** Flags without a value that only this command has, with what they do. */
  readonly switches: Readonly<Record<string, string>>;
  /** Settings that it accepts besides, each together with one of its switches. */
  readonly settingsWith?: Readonly<Record<string, readonly SettingKey[]>>;
  start(context: HostContext, given: Given): Promise<CommandOutcome | StoppedEarly>;
  /** The document on stdout when it was refused before it began. Default: the result of a run. */
  readonly nothingDone?: (outcome: RunOutcome, version: string) => object;
}

/** Stopped by a signal or its deadline before it had done anything; nothing has been printed. */
export interface StoppedEarly {
  readonly status: 'stopped';
  readonly outcome: RunOutcome;
}

/** What the command line passes to a command. */
export interface Given {
  /** The operands given, in order. */
  readonly operands: readonly string[];
  /** Values by flag, not yet validated. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly switches: ReadonlySet<string>;
  /** Mistakes in the words of the command line, reported together with any others. */
  readonly problems: readonly Problem[];
}
