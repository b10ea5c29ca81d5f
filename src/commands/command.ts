/** What a command is, and what it receives from the command line. */

import { defaultText, type SettingEntry, type SettingKey, settingEntries } from '../config/schema.ts';
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
  start(context: HostContext, given: Given): Promise<CommandOutcome>;
  /** The document on stdout when it was refused before it began. Default: the result of a run. */
  readonly nothingDone?: (outcome: RunOutcome, version: string) => object;
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

/** A setting as a flag of a command, with the value, meaning and default that it has there. */
export interface CommandFlag extends Omit<SettingEntry, 'initial'> {
  readonly initial: string;
  /** The switch without which it is not taken; null if it always is. */
  readonly needs: string | null;
}

/** The flags of a command that are settings, in the order of the help text. */
export function commandFlags({ settings, settingsWith = {}, output }: Command): CommandFlag[] {
  return settingEntries().flatMap((entry) => {
    const isTaken = settings.includes(entry.key);
    const [needs = null] = Object.keys(settingsWith).filter((name) =>
      settingsWith[name]?.includes(entry.key),
    );
    if (!isTaken && needs === null) return [];
    const own = entry.key === 'output' && output ? output : { initial: defaultText(entry) };
    return [{ ...entry, ...own, needs: isTaken ? null : needs }];
  });
}
