/** What a command is, and what the command line gives it. */

import type { SettingKey } from '../config/schema.ts';
import type { RunOutcome } from '../domain/run/outcome.ts';
import type { CommandOutcome, HostContext } from '../host/context.ts';

/** One command: its help, what it takes, and how it starts. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** The line and what it is for. */
  readonly examples: readonly (readonly [line: string, meaning: string])[];
  /** What the words after the name stand for, such as `RUN`; one in brackets may be left out. */
  readonly operands: readonly string[];
  /** The settings that it takes, as flags and variables. */
  readonly settings: readonly SettingKey[];
  /** What `--output` is for it, where that is less than for a run: its values, their meaning, and what comes without it. */
  readonly output?: { readonly value: string; readonly help: string; readonly initial: string };
  /** Flags without a value that only this command knows, with what they do. */
  readonly switches: Readonly<Record<string, string>>;
  start(edge: HostContext, given: Given): Promise<CommandOutcome>;
  /** The document on stdout when it was refused before it began. Default: the result of a run. */
  readonly nothingDone?: (outcome: RunOutcome, version: string) => object;
}

/** What the command line gave to a command. */
export interface Given {
  /** One for each operand that was given, in their order. */
  readonly operands: readonly string[];
  /** Values by flag; not checked yet. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly switches: ReadonlySet<string>;
  /** Mistakes in the words of the command line, to be told together with what else is wrong. */
  readonly problems: readonly string[];
}
