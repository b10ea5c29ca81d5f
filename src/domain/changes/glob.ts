/**
 * Globs as in .gitignore. They come from models, plans and run directories, and a regular expression made from one could run
 * practically forever. So all possible matches are tracked at the same time, in time linear in glob and path.
 */

import { withoutTail } from '../text/shorten.ts';
/** A test for paths relative to the folder that the glob applies to. */
export type GlobMatcher = (path: string) => boolean;

/** No sensible glob is longer. */
export const MAX_GLOB_LENGTH = 1_000;

/**
 * Without a slash inside, the glob matches names at any depth; a glob that matches a folder matches everything in it. Names
 * that start with a dot match too, and `{a,b}` means either.
 */
export function globMatcher(glob: string): GlobMatcher {
  const foldersOnly = glob.endsWith('/');
  const trimmed = withoutTail(glob, '/');
  if (trimmed === '' || trimmed === '.') return () => true;
  const rooted = trimmed.includes('/') ? trimmed.replace(/^(?:\.?\/)+/, '') : `**/${trimmed}`;
  const plain = plainMatcher(rooted, foldersOnly);
  if (plain !== null) return plain;
  // Most globs of the tables that every run has are never asked.
  let machine: Machine | null = null;
  return (path) => {
    machine ??= new Machine(partsOf([...rooted]));
    return machine.accepts(path, foldersOnly);
  };
}

/** For a glob of names alone, below the root or at any depth, as most are; null for any other. */
function plainMatcher(rooted: string, foldersOnly: boolean): GlobMatcher | null {
  const names = rooted.replace(/^\*\*\//, '');
  if (names === '' || /[*?[\]{}\\]/.test(names)) return null;
  const within = `${names}/`;
  if (names === rooted) return (path) => (!foldersOnly && path === names) || path.startsWith(within);
  return (path) => {
    const whole = `/${path}`;
    return (!foldersOnly && whole.endsWith(`/${names}`)) || whole.includes(`/${within}`);
  };
}

/** The glob for the same paths below the root, of one that is relative to `folder`; leading `../` leads up to the root. */
export function globFrom(folder: string, glob: string): string {
  if (folder === '' || /^(?:!|$)/.test(glob)) return glob;
  const above = folder.split('/').map((name) => name.replace(/[*?[\]{}\\]/g, '\\$&'));
  let rest = glob.replace(/^(?:\.?\/)+/, '');
  const isRooted = rest !== glob || withoutTail(glob, '/').includes('/');
  for (; above.length > 0 && rest.startsWith('../'); rest = rest.slice(3)) above.pop();
  const below = isRooted || rest === '.' ? [rest === '.' ? '**' : rest] : ['**', rest];
  return ['', ...above, ...below].join('/');
}

/**
 * Why this glob should not be relied on, as the end of a sentence that starts with it; null for one that means what it says.
 */
export function whyNoGlob(glob: string): string | null {
  if (glob === '' || glob.length > MAX_GLOB_LENGTH) return `has to have 1 to ${MAX_GLOB_LENGTH} characters`;
  // A byte of an argument or a variable that is not UTF-8 arrives as U+FFFD, which no such name contains.
  if (/[\0\ufffd]/.test(glob))
    return 'cannot have NUL, or bytes that are not UTF-8; write ? for each of those';
  const segments = glob.split('/');
  if (segments.includes('..')) return 'cannot have "..": it names paths below the root of the repository';
  if (segments.slice(1).includes('.')) return 'cannot have "." as a component in the middle';
  const [unknown] =
    /[@!+*?]\(|\[\[:|\{[^{},]{0,1000}\.\.[^{},]{0,1000}\}/.exec(glob.replace(/\\./gs, '')) ?? [];
  return unknown === undefined
    ? null
    : `cannot have ${JSON.stringify(unknown)}: there are *, **, ?, [a-z], {a,b}, and \\ before what means itself`;
}

type Test = (char: string) => boolean;

type Part =
  | { kind: 'one' | 'run'; test: Test }
  /** Any number of folders, each with its slash. */
  | { kind: 'folders' }
  | { kind: 'either'; parts: Part[][] };

/** A state waits for one character, or is several states at once; null is the end of the glob. */
type State = { test: Test; next: State } | { forks: State[] } | null;

/** All states a path can be in after some of its characters, and the states already computed for further characters. */
interface GlobStep {
  readonly waiting: readonly Exclude<State, { forks: State[] } | null>[];
  readonly isEnd: boolean;
  readonly next: Map<string, GlobStep>;
}

/** Maximum number of states in all remembered steps; beyond that all are dropped, so that no glob can exhaust memory. */
const MAX_REMEMBERED = 100_000;

class Machine {
  readonly #first: State;
  readonly #ids = new Map<State, number>();
  #steps = new Map<string, GlobStep>();
  #start: GlobStep;
  #remembered = 0;

  constructor(parts: readonly Part[]) {
    this.#first = stateOf(parts, null);
    this.#start = this.#stepOf([this.#first]);
  }

  /** Whether the glob matches the path or a folder above it. */
  accepts(path: string, foldersOnly: boolean): boolean {
    let step = this.#start;
    for (const char of path) {
      if (char === '/' && step.isEnd) return true;
      step = step.next.get(char) ?? this.#follow(step, char);
      if (step.waiting.length === 0 && !step.isEnd) return false;
    }
    return !foldersOnly && step.isEnd;
  }

  #follow(step: GlobStep, char: string): GlobStep {
    if (this.#remembered > MAX_REMEMBERED) {
      this.#remembered = 0;
      this.#steps = new Map();
      this.#start = this.#stepOf([this.#first]);
    }
    const next = this.#stepOf(step.waiting.flatMap((state) => (state.test(char) ? [state.next] : [])));
    step.next.set(char, next);
    this.#remembered += 1 + next.waiting.length;
    return next;
  }

  #stepOf(states: readonly State[]): GlobStep {
    const all = opened(states);
    const waiting = [...all].filter((state) => state !== null && 'test' in state);
    const isEnd = all.has(null);
    const key = `${isEnd} ${waiting
      .map((state) => this.#idOf(state))
      .sort()
      .join()}`;
    const known = this.#steps.get(key);
    if (known) return known;
    const step = { waiting, isEnd, next: new Map() };
    this.#steps.set(key, step);
    return step;
  }

  #idOf(state: State): number {
    const id = this.#ids.get(state) ?? this.#ids.size;
    this.#ids.set(state, id);
    return id;
  }
}

function stateOf(parts: readonly Part[], end: State): State {
  return parts.reduceRight(stateBefore, end);
}

/** The state in which this part of the glob is still to come. */
function stateBefore(next: State, part: Part): State {
  switch (part.kind) {
    case 'one':
      return { test: part.test, next };
    case 'run':
      return repeated(part.test, next);
    case 'folders':
      return { forks: [next, repeated(() => true, { test: (char) => char === '/', next })] };
    case 'either':
      return { forks: part.parts.map((either) => stateOf(either, next)) };
  }
}

function repeated(test: Test, next: State): State {
  const loop = { forks: [next] };
  loop.forks.push({ test, next: loop });
  return loop;
}

/** These states and all states they fork into. */
function opened(states: readonly State[]): Set<State> {
  const all = new Set(states);
  // A set is iterated in insertion order, including entries added during the iteration.
  for (const state of all)
    if (state !== null && 'forks' in state) for (const fork of state.forks) all.add(fork);
  return all;
}

const inName: Test = (char) => char !== '/';

function partsOf(glob: readonly string[]): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < glob.length; at += 1) {
    const char = glob[at] ?? '';
    if (char === '*') {
      let end = at;
      while (glob[end] === '*') end += 1;
      const isWhole = end - at === 2 && (at === 0 || glob[at - 1] === '/');
      if (isWhole && glob[end] === '/') {
        parts.push({ kind: 'folders' });
        at = end;
        continue;
      }
      parts.push({ kind: 'run', test: isWhole && end === glob.length ? () => true : inName });
      at = end - 1;
    } else if (char === '?') {
      parts.push({ kind: 'one', test: inName });
    } else if (char === '[') {
      const set = setAt(glob, at);
      parts.push({ kind: 'one', test: set?.test ?? ((other) => other === '[') });
      at = set?.end ?? at;
    } else if (char === '{') {
      const braces = bracesAt(glob, at);
      if (braces === null) parts.push({ kind: 'one', test: (other) => other === '{' });
      else parts.push({ kind: 'either', parts: braces.parts.map(partsOf) });
      at = braces?.end ?? at;
    } else {
      // A backslash makes the next character literal; at the end it is literal itself.
      const literal = char === '\\' && at + 1 < glob.length ? (glob[++at] ?? '') : char;
      parts.push({ kind: 'one', test: (other) => other === literal });
    }
  }
  return parts;
}

/** `[a-z]`, `[!a-z]`; null if it is not closed. */
function setAt(glob: readonly string[], start: number): { test: Test; end: number } | null {
  const isNegated = glob[start + 1] === '!' || glob[start + 1] === '^';
  const first = start + (isNegated ? 2 : 1);
  const ranges: [number, number][] = [];
  for (let at = first; at < glob.length; at += 1) {
    if (glob[at] === ']' && at > first) {
      const isIn = (code: number) => ranges.some(([low, high]) => low <= code && code <= high);
      return { test: (char) => inName(char) && isIn(codeOf(char)) !== isNegated, end: at };
    }
    if (glob[at] === '\\') at += 1;
    const low = codeOf(glob[at]);
    const isRange = glob[at + 1] === '-' && glob[at + 2] !== ']' && at + 2 < glob.length;
    if (isRange) at += 2;
    ranges.push([low, codeOf(glob[at])]);
  }
  return null;
}

/** `{a,b}`; null if it is not closed or has no comma. */
function bracesAt(glob: readonly string[], start: number): { parts: string[][]; end: number } | null {
  const cuts = [start];
  let depth = 0;
  for (let at = start; at < glob.length; at += 1) {
    if (glob[at] === '\\') at += 1;
    else if (glob[at] === '{') depth += 1;
    else if (glob[at] === ',' && depth === 1) cuts.push(at);
    else if (glob[at] === '}' && --depth === 0) {
      if (cuts.length === 1) return null;
      return { parts: cuts.map((cut, index) => glob.slice(cut + 1, cuts[index + 1] ?? at)), end: at };
    }
  }
  return null;
}

function codeOf(char: string | undefined): number {
  return char?.codePointAt(0) ?? 0;
}
