/**
 * What a verify command needs besides the programs that it names: the module of `python -m`, a script of package.json and its
 * programs, a program for `npx`, or installed packages in general.
 */

import { join } from 'node:path';
import * as z from 'zod';
import type { NeededProgram } from '../../../adapters/plan/needed-programs.ts';
import { jsonOrUndefined } from '../../../domain/text/json.ts';
import { readBytes } from '../../../files/regular-file.ts';

/** One thing to look up; `folder` is where, relative to the root. */
export type NeededPart = { readonly command: string; readonly folder: string } & (
  | { readonly kind: 'module'; readonly python: string; readonly name: string }
  /** `script` is the text that names it; null for a program that `npx` and its like start. */
  | { readonly kind: 'program'; readonly script: string | null; readonly name: string }
  /** What package.json does not have, so there is nothing to look up. */
  | { readonly kind: 'script'; readonly name: string }
  /** `name` is one of those that package.json names. */
  | { readonly kind: 'packages'; readonly name: string }
);

/** Where the commands run, and whether they could load packages. */
interface PartsPlace {
  /** Of the checkout; null for none. */
  readonly root: string | null;
  readonly canLoad: boolean;
}

const PYTHON = /^(?:[\w.-]+\/)*python[\d.]*$/;
const MODULE = /^([A-Za-z_]\w*)(?:\.[\w.]*)?$/;
/** Variables that bring modules, programs or settings from elsewhere. */
const FROM_ELSEWHERE = /PATH|PYTHON|^npm_config/i;

type Text = Readonly<Record<string, string>>;
const Text = z.record(z.string(), z.string());
const Package = z.object({
  scripts: Text.optional(),
  dependencies: Text.optional(),
  devDependencies: Text.optional(),
});
const MAX_PACKAGE_BYTES = 1_000_000;

/** Covers only programs that run before anything else could have created what they need. */
export async function neededParts(commands: readonly string[], place: PartsPlace): Promise<NeededPart[]> {
  const { neededPrograms } = await import('../../../adapters/plan/needed-programs.ts');
  const found = commands.map(async (command) => {
    const programs = neededPrograms(command).filter(
      ({ folder, isFirst, sets }) =>
        isFirst && !folder.startsWith('/') && !sets.some((name) => FROM_ELSEWHERE.test(name)),
    );
    const parts = programs.map((program) => partsOf(program, command, { ...place, neededPrograms }));
    return (await Promise.all(parts)).flat();
  });
  return (await Promise.all(found)).flat();
}

interface KnownOfRun extends PartsPlace {
  readonly neededPrograms: (text: string) => NeededProgram[];
}

async function partsOf(program: NeededProgram, command: string, known: KnownOfRun): Promise<NeededPart[]> {
  const { name, words, folder } = program;
  const here = { command, folder };
  if (PYTHON.test(name)) {
    const [, module] = MODULE.exec((words[0] === '-m' && words[1]) || '') ?? [];
    return module === undefined ? [] : [{ ...here, kind: 'module', python: name, name: module }];
  }
  const manifest =
    known.root === null || !RUNNERS.test(name) ? null : await manifestIn(join(known.root, folder));
  if (manifest === null) return [];
  const { scripts = {}, dependencies = {}, devDependencies = {} } = manifest;
  const [dependency] = Object.keys(dependencies);
  const packages: NeededPart[] =
    dependency === undefined ? [] : [{ ...here, kind: 'packages', name: dependency }];
  if (name === 'node') return packages;
  const called = scriptCalled(program);
  if (called === null || (!called.isCertain && !Object.hasOwn(scripts, called.name))) {
    const started = startedBy(program);
    // Yarn and pnpm have their own commands: only names in package.json are certain not to be one of them.
    const isNeeded = LOADS.test(name)
      ? !known.canLoad
      : Object.hasOwn({ ...dependencies, ...devDependencies }, started ?? '');
    return started !== null && isNeeded ? [{ ...here, kind: 'program', script: null, name: started }] : [];
  }
  if (!Object.hasOwn(scripts, called.name)) return [{ ...here, kind: 'script', name: called.name }];
  // Which of them Yarn runs depends on its version.
  if (name === 'yarn' && Object.hasOwn(scripts, `pre${called.name}`)) return [];
  const found = new Map<string, string>();
  const text = withScripts(called.name, { scripts, found, neededPrograms: known.neededPrograms });
  const names = known.neededPrograms(text).flatMap((one) => (one.name.includes('/') ? [] : [one.name]));
  const programs = [...new Set(names)].map((one): NeededPart => {
    const script = [...found.values()].find((each) => each.split(/\s+/).includes(one));
    return { ...here, kind: 'program', script: script ?? text, name: one };
  });
  return NODE.test(text) && !INSTALLS.test(text) ? [...programs, ...packages] : programs;
}

/** Null if there is none that can be read. */
async function manifestIn(folder: string): Promise<z.infer<typeof Package> | null> {
  const read = await readBytes(join(folder, 'package.json'), { maxBytes: MAX_PACKAGE_BYTES, follow: false });
  if (read.status === 'failed') return null;
  return Package.safeParse(jsonOrUndefined(read.bytes.toString('utf8'))).data ?? null;
}

/** What starts scripts or programs of packages, or modules that import them. */
const RUNNERS = /^(?:node|npm|pnpm|yarn|bun|npx|bunx)$/;
/** It downloads missing packages. */
const LOADS = /^(?:npx|bunx)$/;
const NODE = /\b(?:node|bun)\b/;
const INSTALLS = /\b(?:i|ci|install|add)\b/;

/** The script that the words name; `isCertain` where they can mean nothing else. Null where an option may change that. */
function scriptCalled({ name, words }: NeededProgram): { name: string; isCertain: boolean } | null {
  const [first, second] = words;
  const isRun = first === 'run' || (name === 'npm' && first === 'run-script');
  const isTest = first === 'test' || (first === 't' && name !== 'yarn');
  // Yarn and pnpm run scripts by their names alone; `bun test` is no script.
  const isNamed = name === 'yarn' || name === 'pnpm' || (name === 'npm' && isTest);
  const called = isRun ? second : isNamed ? first : null;
  if (!called || called.startsWith('-')) return null;
  // npm takes options behind the name for its own.
  const options = words.slice(0, words.includes('--') ? words.indexOf('--') : undefined);
  if (name === 'npm' && options.some((word) => word === null || word.startsWith('-'))) return null;
  if (!isRun) return { name: isTest ? 'test' : called, isCertain: isTest };
  // Yarn and Bun run programs of packages in the same way.
  return { name: called, isCertain: name === 'npm' || name === 'pnpm' };
}

/** The package program that the words name; null if there is none, or if an option says where it comes from. */
function startedBy({ name, words }: NeededProgram): string | null {
  const from = words[0] === 'exec' || (name !== 'npm' && words[0] === 'run') ? 1 : 0;
  if (name === 'npm' && from === 0) return null;
  const started =
    words.slice(from).find((word) => word === null || !/^(?:--no-install|--yes|-y|--)$/.test(word)) ?? '';
  return /^[a-z][\w.-]*$/.test(started) ? started : null;
}

interface Scripts {
  readonly scripts: Text;
  /** Takes those that were looked at. */
  readonly found: Map<string, string>;
  readonly neededPrograms: KnownOfRun['neededPrograms'];
}

/**
 * The text of a script, with the texts of those that it runs in turn in their places, and before each what runs before it, which
 * may install what it needs.
 */
function withScripts(name: string, known: Scripts): string {
  const { scripts, found, neededPrograms } = known;
  const parts = [`pre${name}`, name].flatMap((one) => {
    const script = Object.hasOwn(scripts, one) ? scripts[one] : undefined;
    if (script === undefined || found.has(one)) return [];
    found.set(one, script);
    // In quotes, what looks like a command may be none.
    if (/["'`\\]/.test(script)) return [script];
    return script.split(' && ').map((part) => {
      const [only, more] = neededPrograms(part);
      const called =
        only === undefined || more !== undefined || !RUNNERS.test(only.name) ? null : scriptCalled(only);
      return (called && withScripts(called.name, known)) || part;
    });
  });
  return parts.join('\n');
}
