/** What `init` knows of a repository's project: commands, and where each of them comes from. */

import type { PackageManager } from '../../domain/packages/package-manager.ts';
import type { WorkflowStep } from './workflow-step.ts';

/** A file in which something was found, or the reason of a guess. */
export type Basis = { readonly found: string } | { readonly guessed: string };

/** A command, or the name of a tool, with its basis. */
export interface Said {
  readonly text: string;
  readonly basis: Basis;
}

/** One project of one ecosystem, in the root of a repository or in a folder of it. */
export interface Project {
  /** Such as `Node.js`. */
  readonly ecosystem: string;
  /** The package manager. */
  readonly manager: Said;
  readonly lockfile: string | null;
  readonly setup: readonly Said[];
  readonly test: Said | null;
  /** Written into `verify` only where it was found; a guess is only mentioned. */
  readonly lint: Said | null;
  readonly build: Said | null;
  /** Hosts of its registries, as entries of `allow-domain`; empty where nothing is downloaded. */
  readonly domains: readonly string[];
  /** The cache that can replace those hosts; null if there is none. */
  readonly cache: ProjectCache | null;
  /** What a hosted runner needs before patchsmith starts. */
  readonly steps: readonly WorkflowStep[];
  /** What is guessed besides the commands, such as a version. */
  readonly guesses: readonly string[];
  /** The folder that setup makes, which git should ignore. */
  readonly makes: string | null;
  /** What a person has to decide, a sentence each. */
  readonly decisions: readonly string[];
}

/** A cache of `--cache`, which a file of the project asks for. */
export interface ProjectCache {
  readonly manager: PackageManager;
  /** Fills it on the machine of a person. */
  readonly filledBy: string;
  /**
   * Fills it in a workflow, running nothing of the packages and leaving nothing in the checkout; a script each. Null where the
   * manager cannot: a workflow names the hosts instead.
   */
  readonly steps: readonly string[] | null;
}

/** One ecosystem: how it is recognised, and how its projects are looked at. */
export interface Ecosystem {
  /** Names of its source files end with one of these; decides between several ecosystems. */
  readonly extensions: readonly string[];
  /** Names of files, or their ends beginning with `*`, one of which has to be there. */
  readonly manifests: readonly string[];
  /** Prints the version of its language wherever it is run, reading nothing of a project; null where none does so quickly. */
  readonly versionCommand: string | null;
  /** Null when the manifests that are there do not make a project. */
  look(folder: Folder): Promise<Project | null>;
}

/** A folder of the repository, for reading. Nothing of it is ever executed. */
export interface Folder {
  /** Relative to the root, with a slash at its end; empty for the root. */
  readonly prefix: string;
  /** The files and folders in it. Links are left out. */
  readonly names: ReadonlySet<string>;
  /** The first of these that is there; an entry that begins with `*` names the end. */
  first(...names: readonly string[]): string | null;
  /** The text of a small file; null when it is missing, a link, too large or no text. */
  text(path: string): Promise<string | null>;
  /** A parsed file; null when it is missing or wrong. */
  json(path: string): Promise<unknown>;
  toml(path: string): Promise<unknown>;
  /** The workflow file that contains one of these texts; null when none does. */
  inWorkflows(...texts: readonly string[]): string | null;
}

/** A command that a file of the repository gives. */
export function found(text: string, file: string): Said {
  return { text, basis: { found: file } };
}

/** A command that is only likely. `why` completes "guessed: ". */
export function guessed(text: string, why: string): Said {
  return { text, basis: { guessed: why } };
}

/**
 * A command for setup that makes a folder where there is none. What it leaves of it when it fails is removed: a half-made one would
 * be taken for a whole one from then on. The exit code stays, since 127 says that a program is missing.
 */
export function unlessMade(folder: string, command: string): string {
  return `test -d ${folder} || ${command} || { code=$?; rm -rf ${folder}; (exit $code); }`;
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

/** The same, if it is text. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const inner = at(value, ...path);
  return typeof inner === 'string' ? inner : null;
}

/** The keys of a mapping at a path. */
export function keysAt(value: unknown, ...path: readonly string[]): string[] {
  const inner = at(value, ...path);
  return typeof inner === 'object' && inner !== null ? Object.keys(inner) : [];
}
