/** What a sandbox is opened with, and what opening one results in. */

import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Environment } from '../../domain/environment.ts';
import type { PackageManager } from '../../domain/packages.ts';
import type { CommandLimits } from '../../domain/run/limits.ts';
import type { Warning } from '../../domain/warnings/warning.ts';
import type { SandboxNetwork } from '../../ports/network.ts';
import type { SandboxGitDir } from '../../ports/workspace.ts';
import type { Sandbox } from '../../ports.ts';

/** `required`: contained at one of the levels, or refused. `auto`: otherwise none, with a loud warning. `off`: none. */
export type SandboxMode = 'required' | 'auto' | 'off';

/** Package managers whose caches commands may use. */
export interface WantedCaches {
  /** Asked for by name: if a cache is missing, the sandbox is refused. */
  readonly named: readonly PackageManager[];
  /** Found by their lock files: if a cache is missing, a warning says so. */
  readonly found: readonly PackageManager[];
}

/** The options for opening a sandbox. */
export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** The least that contains commands: `namespaces` with a `/proc` and a host name of their own. Default: `landlock`. */
  readonly leastLevel?: 'namespaces' | 'namespaces-lite' | 'landlock';
  /** Absolute path of the work tree's root. */
  readonly root: string;
  /** The folder in which every command starts, relative to the root. Default: the root. */
  readonly folder?: string;
  /** Absolute path at which contained commands see the work tree. Default: its own. */
  readonly shownAs?: string;
  /** Absolute paths that commands see too, read-only or, with `:rw` appended, writable. */
  readonly mounts?: readonly string[];
  /** Only contained commands get them. Default: none. */
  readonly caches?: WantedCaches;
  /** What commands may use of the machine. Default: the default limits. */
  readonly limits?: CommandLimits;
  readonly sandboxGitDir: SandboxGitDir;
  /** A private folder outside the work tree; created if missing. Its owner empties it after `close`. */
  readonly scratchDir: string;
  /** Through which contained commands reach the network; null or absent for no network at all. */
  readonly network?: SandboxNetwork | null;
  /** The proxy permits no host: programs need not try again. */
  readonly isNetworkClosed?: boolean;
  /** The environment in which to find toolchains. Commands get only a small part of it. */
  readonly hostEnv: Environment;
  /** Called while a first command proves the sandbox, which takes some milliseconds: time for other work. */
  readonly onProving?: () => void;
}

/** A place of the machine that contained commands see. */
export interface ShownPlace {
  readonly path: string;
  readonly writable: boolean;
}

/** Levels that the machine does not give, and why, with what would give one. */
export interface RefusedLevels {
  readonly levels: readonly string[];
  readonly reason: string;
}

/** An open sandbox, or why there is none. */
export type OpenedSandbox =
  /** `warnings` are sentences for people. */
  | {
      status: 'ok';
      sandbox: Sandbox;
      warnings: Warning[];
      shown: ShownPlace[];
      /** The levels above that of the sandbox, the strongest first. */
      refused?: readonly RefusedLevels[];
    }
  /** The options cannot be fulfilled; `reason` names the one. */
  | { status: 'refused'; reason: string }
  /** `reason` names the cause and the fix, level by level in `refused`. */
  | { status: 'unavailable'; reason: string; refused?: readonly RefusedLevels[] };

/** A new folder for the files of one sandbox. */
export async function ownFolder({ scratchDir }: Pick<SandboxOptions, 'scratchDir'>): Promise<string> {
  await mkdir(scratchDir, { recursive: true });
  return mkdtemp(join(scratchDir, 'sandbox-'));
}
