/** Which programs a verify command certainly needs, as far as its text shows. */

import type { CommandNode, PipelineNode, Statement, Word } from 'unbash';
import { parsedScript } from './parsed-script.ts';
import {
  changesNames,
  endsWell,
  folderAfter,
  literal,
  MAKES_NOTHING,
  programOf,
  type Words,
} from './simple-command.ts';
import { isTest } from './tests-in-lists.ts';

/** The first word of a simple command. */
export interface NeededProgram {
  readonly name: string;
  /** The script's current folder at the call, relative to where it starts; `.` for that folder. */
  readonly folder: string;
  /** The words after it. */
  readonly words: Words;
  /** Names of the variables set before it. */
  readonly sets: readonly string[];
  /** Nothing that could have created a file has run before it. */
  readonly isFirst: boolean;
}

/**
 * The first words of the simple commands that have to run for the script to succeed. Omits what the text cannot tell:
 * words with expansions, functions of the script, what a condition or an empty loop may skip, what fails without
 * ending the script, what follows a place where it may end with success, names after a change of PATH, `source`,
 * `eval` or a command that installs something, and paths that an earlier command of the script may create.
 */
export function neededPrograms(text: string): NeededProgram[] {
  return walkOf(text)?.walk.needed ?? [];
}

/**
 * The script's current folder at its end, relative to where it starts; `.` for that folder, and if it depends on what
 * runs.
 */
export function folderAtEnd(text: string): string {
  return walkOf(text)?.end.folder ?? '.';
}

/** What is found in a script, and where it ends; null for one that cannot be parsed. */
function walkOf(text: string): { walk: Walk; end: ReturnType<Walk['list']> } | null {
  const commands = parsedScript(text);
  if (commands === null) return null;
  const walk = new Walk();
  return { walk, end: walk.list(commands, START, true) };
}

/** What is known at one place in the script. */
interface PlaceInScript {
  /** Null when it depends on what runs. */
  readonly folder: string | null;
  /** Nothing that could create a file has run yet. */
  readonly isFirst: boolean;
  /** Names mean what they meant at the start. */
  readonly areNamesKnown: boolean;
  /** The next command runs if nothing before it fails, and the script fails if it does. */
  readonly isRequired: boolean;
}

const START: PlaceInScript = { folder: '.', isFirst: true, areNamesKnown: true, isRequired: true };

/** Each method returns the place after its argument. `isLast`: the argument determines the script's exit code. */
class Walk {
  readonly needed: NeededProgram[] = [];
  readonly #functions = new Set<string>();
  /** Failures no longer end the script, or it may have ended with success. */
  #mayEndWell = false;

  list(statements: readonly Statement[], start: PlaceInScript, isLast: boolean): PlaceInScript {
    let place = start;
    for (const [at, { command, background }] of statements.entries()) {
      const isEnd = isLast && at === statements.length - 1;
      place = background
        ? {
            ...this.#perhaps(place, (inside) => this.#statement(command, inside, true)),
            folder: place.folder,
          }
        : this.#statement(command, place, isEnd);
    }
    return place;
  }

  #statement(command: Statement['command'], place: PlaceInScript, isLast: boolean): PlaceInScript {
    if (command.type !== 'AndOr') return this.#pipeline(command, place, isLast);
    const { commands, operators } = command;
    // What is left of || may fail, and what is right of it may not be reached. With && it is the same, unless the
    // script ends there: bash continues if any but the last of them fails.
    return operators.includes('||') || !isLast
      ? this.#perhaps(place, (inside) => this.#each(commands, inside))
      : this.#each(commands, place);
  }

  #each(commands: readonly PipelineNode[], start: PlaceInScript): PlaceInScript {
    let place = start;
    for (const [at, command] of commands.entries()) {
      if (at > 0 && commands.slice(0, at).some(isTest))
        return this.#perhaps(place, (inside) => this.#each(commands.slice(at), inside));
      place = this.#pipeline(command, place, true);
    }
    return place;
  }

  #pipeline(command: PipelineNode, place: PlaceInScript, isLast: boolean): PlaceInScript {
    if (command.type !== 'Pipeline') return this.#command(command, place, isLast);
    const [only, ...more] = command.commands;
    if (only !== undefined && more.length === 0) return this.#command(only, place, isLast);
    const after = command.commands.map((part) => this.#command(part, place, true));
    // Its parts run at the same time, each in its own shell.
    return afterAll(after, place);
  }

  #command(command: CommandNode, place: PlaceInScript, isLast: boolean): PlaceInScript {
    const perhaps = (...lists: (readonly Statement[])[]) =>
      this.#perhaps(place, (inside) => lists.reduce((at, list) => this.list(list, at, false), inside));
    switch (command.type) {
      case 'Command':
        return this.#simple(command, place);
      case 'Redirected':
        return this.#command(command.command, place, isLast);
      case 'BraceGroup':
        return this.list(command.body.commands, place, isLast);
      case 'Subshell':
        return afterAll([this.list(command.body.commands, place, true)], place);
      case 'For':
        if (!command.wordlist?.some(isSomething)) return perhaps(command.body.commands);
        return unsure(this.list(command.body.commands, place, isLast), place);
      case 'Function':
        this.#functions.add(command.name.value);
        return this.#inner(command.body, place);
      case 'Coproc':
        return this.#inner(command.body, place);
      case 'If':
        return perhaps(
          command.clause.commands,
          command.then.commands,
          ...command.elif.flatMap(({ clause, then }) => [clause.commands, then.commands]),
          command.else?.commands ?? [],
        );
      case 'Case':
        return perhaps(...command.items.map(({ body }) => body.commands));
      case 'While':
        return perhaps(command.clause.commands, command.body.commands);
      case 'ArithmeticFor':
      case 'Select':
        return perhaps(command.body.commands);
      case 'TestCommand':
      case 'ArithmeticCommand':
        return place;
    }
  }

  /** What may run later, or in parallel. */
  #inner(
    body: Extract<CommandNode, { type: 'Function' | 'Coproc' }>['body'],
    place: PlaceInScript,
  ): PlaceInScript {
    return this.#perhaps(place, (inside) =>
      body.type === 'CompoundList'
        ? this.list(body.commands, inside, false)
        : this.#command(body, inside, false),
    );
  }

  #simple(command: Extract<CommandNode, { type: 'Command' }>, place: PlaceInScript): PlaceInScript {
    const sets = command.prefix.flatMap((part) => (part.type === 'Assignment' ? [part.name ?? ''] : []));
    const setsPath = sets.includes('PATH');
    if (command.name === undefined) return setsPath ? { ...place, areNamesKnown: false } : place;
    const words = command.args.map((word) => (word.type === 'Word' ? literal(word) : word.text));
    const [name, rest] = programOf(literal(command.name), words);
    if (name === null) return { ...place, isFirst: false };
    if (!setsPath) this.#need({ name, words: rest, sets }, place);
    this.#mayEndWell ||= endsWell(name, rest) || (command.name.value === 'exec' && name !== 'exec');
    return after(name, rest, place);
  }

  #need(
    program: Omit<NeededProgram, 'folder' | 'isFirst'>,
    { folder, isFirst, areNamesKnown, isRequired }: PlaceInScript,
  ): void {
    const { name } = program;
    if (this.#functions.has(name) || name.startsWith('-') || name === '') return;
    if (!isRequired || this.#mayEndWell) return;
    if (name.includes('/') ? !isFirst || folder === null : !areNamesKnown) return;
    this.needed.push({ ...program, folder: folder ?? '.', isFirst: isFirst && folder !== null });
  }

  /** What may not run needs nothing, and preserves only what it cannot have changed. */
  #perhaps(place: PlaceInScript, walked: (inside: PlaceInScript) => PlaceInScript): PlaceInScript {
    return { ...unsure(walked({ ...place, isRequired: false }), place), isRequired: place.isRequired };
  }
}

function unsure(after: PlaceInScript, before: PlaceInScript): PlaceInScript {
  return { ...after, folder: after.folder === before.folder ? before.folder : null };
}

/** In the previous folder, since a subshell does not change this one's folder. */
function afterAll(places: readonly PlaceInScript[], before: PlaceInScript): PlaceInScript {
  return {
    folder: before.folder,
    isFirst: places.every(({ isFirst }) => isFirst),
    areNamesKnown: places.every(({ areNamesKnown }) => areNamesKnown),
    isRequired: before.isRequired,
  };
}

/** Whether the word expands to at least one word. A pattern that nothing matches stays as it is. */
function isSomething({ parts = [] }: Word): boolean {
  return parts.length === 0 || parts.some(({ type }) => type === 'Literal' || type === 'SingleQuoted');
}

function after(name: string, words: Words, place: PlaceInScript): PlaceInScript {
  if (name === 'cd') return { ...place, folder: folderAfter(words, place.folder) };
  if (name === 'pushd' || name === 'popd') return { ...place, folder: null };
  if (changesNames(name, words)) return { ...place, isFirst: false, areNamesKnown: false };
  return MAKES_NOTHING.has(name) ? place : { ...place, isFirst: false };
}
