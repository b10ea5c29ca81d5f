/** What a sandbox is opened with, and what comes of it. */

import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandLimits } from '../../domain/run/command-limits.ts';
import type { Sandbox, SandboxGitDir } from '../../ports.ts';

/** `required`: bubblewrap or nothing. `auto`: bubblewrap, else without, said loudly. `off`: without. */
export type SandboxMode = 'required' | 'auto' | 'off';

/** What a sandbox is opened with. */
export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** Absolute path of the work tree's root: every command starts there. */
  readonly root: string;
  /** Absolute path at which contained commands see the work tree; its own when left out. */
  readonly shownAs?: string;
  /** Absolute paths that commands see as well, read-only or, with `:rw` at the end, writable. */
  readonly mounts?: readonly string[];
  /** What commands may take of the machine; the defaults when left out. */
  readonly limits?: CommandLimits;
  readonly agentGit: SandboxGitDir;
  /** A folder of ours outside the work tree; made when it is missing. Whoever owns it empties it after `close`. */
  readonly scratchDir: string;
  /** The socket of the proxy that contained commands reach the network by; null, or left out, for no network at all. */
  readonly proxySocket?: string | null;
  /** The environment that toolchains are found by. Commands get little of it. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  /** Called while a first command proves the sandbox, for some milliseconds: time for other work. */
  readonly onProving?: () => void;
}

/** A place of the machine that contained commands see. */
export interface ShownPlace {
  readonly path: string;
  readonly writable: boolean;
}

/** An open sandbox, or why there is none. */
export type OpenedSandbox =
  /** `warnings` are sentences for people. */
  | { status: 'ok'; sandbox: Sandbox; warnings: string[]; shown: ShownPlace[] }
  /** The options ask for what cannot be; `reason` names it. */
  | { status: 'refused'; reason: string }
  /** `reason` names the cause and its mend. */
  | { status: 'unavailable'; reason: string };

/** A new folder for the files of one sandbox. */
export async function ownFolder({ scratchDir }: SandboxOptions): Promise<string> {
  await mkdir(scratchDir, { recursive: true });
  return mkdtemp(join(scratchDir, 'sandbox-'));
}
