/** What is known about a repository's project: commands, and where each comes from. */

import { MANAGERS, type ManagerName, managersOf, type PackageManager } from '../../domain/packages.ts';
import type { Folder } from './folder.ts';

/** A command, or the name of a tool, and the file of the repository that names it. */
export interface Said {
  readonly text: string;
  readonly from: string;
}

/** The project of one ecosystem in the root of a repository. */
export interface Project {
  readonly manager: Said;
  readonly lockfile: string | null;
  readonly setup: readonly Said[];
  readonly test: Said | null;
  readonly lint: Said | null;
  readonly build: Said | null;
  /** Hosts of its registries, as entries of `allow-domain`; empty if nothing is downloaded. */
  readonly domains: readonly string[];
  /** The cache that can replace those hosts; null if there is none. */
  readonly cache: ProjectCache | null;
  /** What a hosted runner needs before patchsmith starts. */
  readonly installs: WorkflowInputs;
  /** The folder that commands make, which git should ignore. */
  readonly makes: string | null;
  /** What a person has to decide, one sentence each. */
  readonly decisions: readonly string[];
}

/** A cache for `--cache`, which a file of the project implies. */
export interface ProjectCache {
  readonly manager: PackageManager;
  /** Fills it on a person's machine. */
  readonly filledBy: string;
}

/** One ecosystem: how to recognise it, and what its files say. */
export interface Ecosystem {
  /** Such as `Node.js`. */
  readonly name: string;
  /** Names of its source files end with one of these; decides between several ecosystems. */
  readonly extensions: readonly string[];
  /** Names of files, or their ends beginning with `*`, one of which has to be there. */
  readonly manifests: readonly string[];
  /** `file` is the first of `manifests` that is there. */
  look(folder: Folder, file: string): Promise<Project>;
}

/**
 * A setup command that creates a folder if there is none. If it fails, what it leaves is removed: an incomplete
 * folder would later count as complete. The exit code is kept, since 127 means that a program is missing.
 */
export function unlessMade(folder: string, command: string): string {
  return `test -d ${folder} || ${command} || { code=$?; rm -rf ${folder}; (exit $code); }`;
}

/** Installs what the lock file says, or, without one, makes none. */
export function setupBy(manager: ManagerName, lockfile: string | null, file: string): Said {
  const { locked, unlocked, makes } = MANAGERS[manager];
  const line = lockfile === null ? unlocked : locked;
  const text = makes === null ? line : unlessMade(makes, line.includes(' && ') ? `{ ${line}; }` : line);
  return { text, from: lockfile ?? file };
}

/** That of `manager`, where `--cache auto` would take it, too; null for one that has no cache, or none by the files here. */
export function cacheOf(folder: Folder, manager: ManagerName, filledBy?: string): ProjectCache | null {
  const cached = managersOf([...folder.names]).find((one) => one === manager);
  if (cached === undefined || cached === 'bundler') return null;
  return { manager: cached, filledBy: filledBy ?? MANAGERS[cached].locked };
}

/** The value at a path of own keys in a parsed file; undefined where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let inner = value;
  for (const key of path) {
    if (typeof inner !== 'object' || inner === null || !Object.hasOwn(inner, key)) return undefined;
    inner = (inner as Record<string, unknown>)[key];
  }
  return inner;
}

/** The same, if it is text; else empty. */
export function textAt(value: unknown, ...path: readonly string[]): string {
  const inner = at(value, ...path);
  return typeof inner === 'string' ? inner : '';
}

/** The keys of a mapping at a path. */
export function keysAt(value: unknown, ...path: readonly string[]): string[] {
  const inner = at(value, ...path);
  return typeof inner === 'object' && inner !== null ? Object.keys(inner) : [];
}

/** The first group of a pattern; empty if it does not match. */
export function group(pattern: RegExp, text: string): string {
  return pattern.exec(text)?.[1] ?? '';
}

/**
 * What the called workflow installs before the checkout, as its inputs: versions of languages, and a script that installs what else is
 * needed. Versions are literal: a setup action starts programs in the checkout, and those obey files in it (`yarn --version` executes
 * what `yarn-path` in `.yarnrc` names).
 */
export type WorkflowInputs = Partial<
  Readonly<
    Record<
      'node-version' | 'python-version' | 'go-version' | 'java-version' | 'dotnet-version' | 'install',
      string
    >
  >
>;

/**
 * The lines of YAML, without indentation. Values come from files of the repository that anyone may have written: an expression among
 * them would run in the workflow, so one that could hold it is a mistake of the caller.
 */
export function inputLines(inputs: WorkflowInputs): string[] {
  return Object.entries(inputs).map(([name, value]) => {
    if (/^[\w .,@=/*+:^~<>|-]{1,200}$/.test(value)) return `${name}: ${JSON.stringify(value)}`;
    throw new Error(`${JSON.stringify(value)} must not be in a workflow.`);
  });
}

/** The version if it is written as versions are, and null for anything else. */
export function plainVersion(written: string): string | null {
  const tidy = written.trim();
  return /^v?\d{1,9}(?:\.[\dx]{1,9}){0,3}(?:-[\w.]{1,20})?$/.test(tidy) ? tidy.replace(/^v/, '') : null;
}

/** A version or a range of versions as setup actions take it, such as `20`, `>=20 <23` or `lts/*`; null for anything else. */
export function plainRange(written: string): string | null {
  const tidy = written.trim().replaceAll(/\s*(?:,|\s)\s*/g, ' ');
  const isRange = /^(?:(?:[<>]=?|[\^~=])? ?v?\d{1,9}(?:\.(?:\d{1,9}|[x*])){0,3}(?:(?: \|\|)? |$)){1,4}$/.test(
    tidy,
  );
  return isRange || /^lts\/(?:\*|[a-z]{1,20})$/.test(tidy) ? tidy : null;
}
