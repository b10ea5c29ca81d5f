/** Which programs a verify command cannot do without, as far as its text tells. */

import { type CommandNode, type PipelineNode, parse, type Statement, type Word } from 'unbash';

/** The first word of a simple command. */
export interface NeededProgram {
  readonly name: string;
  /** Where the script stands when it calls it, relative to where it begins; `.` there. */
  readonly folder: string;
}

/**
 * The first words of the simple commands that have to run for the script to succeed. Left out is what the text cannot tell: words with
 * expansions, functions of the script, what is run by `if`, `case` and `||` or after a test, names that follow a change of PATH,
 * `source`, `eval` or a command that installs something, and paths that an earlier command of the script may make.
 */
export function neededPrograms(text: string): NeededProgram[] {
  const { commands, errors } = parse(text);
  if (errors !== undefined && errors.length > 0) return [];
  const walk = new Walk();
  walk.list(commands, START);
  return walk.needed;
}

/** What is known at one place of the script. */
interface Place {
  /** Null when it depends on what runs. */
  readonly folder: string | null;
  /** Nothing has run yet that could make a file. */
  readonly isFirst: boolean;
  /** Names mean what they meant at the start. */
  readonly areNamesKnown: boolean;
}

const START: Place = { folder: '.', isFirst: true, areNamesKnown: true };

class Walk {
  readonly needed: NeededProgram[] = [];
  readonly #functions = new Set<string>();

  /** Each of these gives the place after what it was given. */
  list(statements: readonly Statement[], start: Place): Place {
    let place = start;
    for (const { command, background } of statements) {
      const after = command.type === 'AndOr' ? this.#andOr(command, place) : this.#pipeline(command, place);
      place = background ? { ...after, folder: place.folder } : after;
    }
    return place;
  }

  #andOr({ commands, operators }: Extract<Statement['command'], { type: 'AndOr' }>, start: Place): Place {
    // What stands left of || may be missing, and what stands right of it may not be reached.
    if (operators.includes('||')) return this.#perhaps((walk) => walk.#each(commands, start), start);
    return this.#each(commands, start);
  }

  #each(commands: readonly PipelineNode[], start: Place): Place {
    let place = start;
    for (const [at, command] of commands.entries()) {
      if (at > 0 && commands.slice(0, at).some(isTest))
        return this.#perhaps((walk) => walk.#each(commands.slice(at), place), place);
      place = this.#pipeline(command, place);
    }
    return place;
  }

  #pipeline(command: PipelineNode, place: Place): Place {
    if (command.type !== 'Pipeline') return this.#command(command, place);
    const [only, ...more] = command.commands;
    if (only !== undefined && more.length === 0) return this.#command(only, place);
    const after = command.commands.map((part) => this.#command(part, place));
    // Its parts run at the same time, each in a shell of its own.
    return afterAll(after, place);
  }

  #command(command: CommandNode, place: Place): Place {
    switch (command.type) {
      case 'Command':
        return this.#simple(command, place);
      case 'Redirected':
        return this.#command(command.command, place);
      case 'BraceGroup':
        return this.list(command.body.commands, place);
      case 'Subshell':
        return afterAll([this.list(command.body.commands, place)], place);
      case 'For':
      case 'ArithmeticFor':
        return this.#unsure(this.list(command.body.commands, place), place);
      case 'Function':
        this.#functions.add(command.name.value);
        return place;
      case 'If':
      case 'Case':
      case 'While':
      case 'Select':
      case 'Coproc':
        return { folder: null, isFirst: false, areNamesKnown: place.areNamesKnown && !changesNames(command) };
      case 'TestCommand':
      case 'ArithmeticCommand':
        return place;
    }
  }

  #simple(command: Extract<CommandNode, { type: 'Command' }>, place: Place): Place {
    const setsPath = command.prefix.some((part) => part.type === 'Assignment' && part.name === 'PATH');
    if (command.name === undefined) return setsPath ? { ...place, areNamesKnown: false } : place;
    const words = command.args.map((word) => (word.type === 'Word' ? literal(word) : word.text));
    const [name, rest] = programOf(literal(command.name), words);
    if (name === null) return { ...place, isFirst: false };
    if (!setsPath) this.#need(name, place);
    return after(name, rest, place);
  }

  #need(name: string, { folder, isFirst, areNamesKnown }: Place): void {
    if (this.#functions.has(name) || name.startsWith('-') || name === '') return;
    if (name.includes('/') ? !isFirst || folder === null : !areNamesKnown) return;
    this.needed.push({ name, folder: folder ?? '.' });
  }

  /** What may not run needs nothing, and leaves only what it cannot have changed. */
  #perhaps(walked: (walk: Walk) => Place, place: Place): Place {
    return this.#unsure(walked(new Walk()), place);
  }

  #unsure(after: Place, before: Place): Place {
    return { ...after, folder: after.folder === before.folder ? before.folder : null };
  }
}

/** In the folder before, since what runs in a shell of its own leaves this one where it is. */
function afterAll(places: readonly Place[], before: Place): Place {
  return {
    folder: before.folder,
    isFirst: places.every(({ isFirst }) => isFirst),
    areNamesKnown: places.every(({ areNamesKnown }) => areNamesKnown),
  };
}

/** Looks through what only passes on to another program, such as `env`. */
function programOf(
  name: string | null,
  words: readonly (string | null)[],
): [name: string | null, words: readonly (string | null)[]] {
  if (name === null || !PASSES_ON.has(name)) return [name, words];
  const at = name === 'env' ? words.findIndex((word) => word === null || !/^\w+=/.test(word)) : 0;
  const next = words[at] ?? null;
  if (next === null || next.startsWith('-') || words.slice(0, at).some((word) => word?.startsWith('PATH=')))
    return [name, words];
  return [next, words.slice(at + 1)];
}

const PASSES_ON = new Set(['command', 'exec', 'env', 'nohup', 'builtin']);

function after(name: string, words: readonly (string | null)[], place: Place): Place {
  if (name === 'cd') return { ...place, folder: folderAfter(words, place.folder) };
  if (name === 'pushd' || name === 'popd') return { ...place, folder: null };
  if (changesNamesBy(name, words)) return { folder: place.folder, isFirst: false, areNamesKnown: false };
  return MAKES_NOTHING.has(name) ? place : { ...place, isFirst: false };
}

function folderAfter([to, ...more]: readonly (string | null)[], from: string | null): string | null {
  if (from === null || to === undefined || to === null || more.length > 0 || to.startsWith('-')) return null;
  return to.startsWith('/') ? to : `${from}/${to}`;
}

const MAKES_NOTHING = new Set([
  'set',
  'export',
  'echo',
  'printf',
  'test',
  '[',
  'true',
  ':',
  'pwd',
  'ls',
  'cat',
  'wait',
  'ulimit',
  'umask',
]);

const SETS_NAMES = new Set(['.', 'source', 'eval', 'alias', 'hash', 'enable', 'shopt']);
const DECLARES = new Set(['export', 'declare', 'typeset', 'readonly', 'local']);
/** Arguments of programs that bring further programs. */
const INSTALLS = /^(?:i|ci|install|add|sync|enable|setup|restore|bootstrap|update|upgrade|use|global|build)$/;

function changesNamesBy(name: string, words: readonly (string | null)[]): boolean {
  if (SETS_NAMES.has(name)) return true;
  if (DECLARES.has(name)) return words.some((word) => word === null || word.startsWith('PATH='));
  return words.some((word) => word !== null && INSTALLS.test(word));
}

/** By its words: where one of them stands in an argument, a name less is looked up. */
function changesNames(command: CommandNode): boolean {
  return /"value":"(?:\.|source|eval|alias|hash|enable|i|ci|install|add|sync|setup|restore|build|use)"|"name":"PATH"/.test(
    JSON.stringify(command),
  );
}

/** What follows such a command with && is meant to be left out at times. */
function isTest(command: PipelineNode): boolean {
  if (command.type === 'TestCommand') return true;
  if (command.type === 'Pipeline') return command.prefixes.some(({ type }) => type === 'Negation');
  if (command.type !== 'Command' || command.name === undefined) return false;
  const { value } = command.name;
  const [first] = command.args;
  if (value === 'command') return first?.type === 'Word' && /^-[vV]/.test(first.value);
  return ['[', 'test', 'type', 'which', 'hash'].includes(value);
}

/** The word as the shell takes it; null when that depends on what runs. */
function literal({ value, parts = [] }: Word): string | null {
  if (value.startsWith('~')) return null;
  const isPlain = parts.every(
    (part) =>
      part.type === 'Literal' ||
      part.type === 'SingleQuoted' ||
      part.type === 'AnsiCQuoted' ||
      (part.type === 'DoubleQuoted' && part.parts.every(({ type }) => type === 'Literal')),
  );
  return isPlain ? value : null;
}
