/** The program that a command runs first, after `cd`, if it certainly runs one. */

import type { CommandNode, PipelineNode, Statement, Word } from 'unbash';
import { isTest, parsedScript } from './parsed-script.ts';

/** The first program of a script: without it, the script fails. */
export interface FirstProgram {
  readonly name: string;
  /** Where it runs, relative to where the script starts; `.` for that folder. */
  readonly folder: string;
  /** The words after it; null where one depends on what runs. */
  readonly words: readonly (string | null)[];
  /** Names of the variables set before it. */
  readonly sets: readonly string[];
}

/** Null where the text does not say: for anything but a simple command that has to succeed, after `cd FOLDER` at most. */
export function firstProgram(text: string): FirstProgram | null {
  return firstOf(text)?.program ?? null;
}

/** Where a command runs in the end, as far as its text tells: most begin with `cd`. */
export function folderAfterCd(text: string): string {
  return firstOf(text)?.folder ?? '.';
}

function firstOf(text: string): { folder: string; program: FirstProgram | null } | null {
  let folder = '.';
  for (const [pipeline, isRequired] of stepsOf(parsedScript(text) ?? [])) {
    const simple = firstCommand(pipeline);
    const name = simple?.name === undefined ? null : literal(simple.name);
    if (simple === null || name === null) return { folder, program: null };
    const words = simple.args.map((word) => (word.type === 'Word' ? literal(word) : word.text));
    const [to, ...more] = words;
    if (name === 'cd') {
      if (typeof to !== 'string' || to.startsWith('-') || more.length > 0) return null;
      folder = to.startsWith('/') ? to : `${folder}/${to}`;
      continue;
    }
    const sets = simple.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name ?? ''] : []));
    const isKnown = isRequired && !isTest(pipeline) && !sets.includes('PATH') && !/^-|^$/.test(name);
    return { folder, program: isKnown ? { name, folder, words, sets } : null };
  }
  return { folder, program: null };
}

/** What runs one after the other, from the start, and whether its failure ends the script. bash goes on after a list that fails before its end. */
function* stepsOf(statements: readonly Statement[]): Generator<[PipelineNode, boolean]> {
  for (const [at, { command, background }] of statements.entries()) {
    if (background) return;
    if (command.type !== 'AndOr') yield [command, true];
    else if (command.operators.includes('||')) return;
    else {
      const isEnd = at === statements.length - 1;
      for (const [part, one] of command.commands.entries())
        yield [one, isEnd || part === command.commands.length - 1];
    }
  }
}

/** The simple command that a pipeline begins with; null if it is another, or may fail. */
function firstCommand(pipeline: PipelineNode): Extract<CommandNode, { type: 'Command' }> | null {
  if (pipeline.type === 'Command') return pipeline;
  if (pipeline.type === 'Redirected') return firstCommand(pipeline.command);
  if (pipeline.type !== 'Pipeline' || pipeline.prefixes.some(({ type }) => type === 'Negation')) return null;
  const [first] = pipeline.commands;
  return first === undefined ? null : firstCommand(first);
}

/** The word as the shell sees it; null if that depends on what runs. */
function literal({ value, parts = [] }: Word): string | null {
  if (value.startsWith('~')) return null;
  const isPlain = parts.every(
    (part) =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(({ type }) => type === 'Literal')),
  );
  return isPlain ? value : null;
}
