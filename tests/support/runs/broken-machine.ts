/** Runs of the built command on machines on which something is broken. */

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import type { RunResult } from '../../../src/library.ts';
import type { Script } from '../claude-server/script.ts';
import { startClaudeServer } from '../claude-server/server.ts';
import { type Repository, temporaryFolder } from '../files/repository.ts';
import { resultIn } from '../published.ts';
import { PATIENCE_MS } from '../waiting/patience.ts';
import { CLI } from './cli.ts';
import { KEY } from './scripted-run.ts';
import { validEvents } from './valid-events.ts';

/** What one process of a run left behind. */
export interface ProcessEnd {
  readonly exitCode: number;
  readonly stderr: string;
  /** The last line on stderr. */
  readonly lastLine: string;
  /** Null when there is none. */
  readonly result: RunResult | null;
  /** The run directory's; null when there is none. */
  readonly patch: string | null;
}

export interface SmallDiskRun {
  readonly repository: Pick<Repository, 'root'>;
  /** `disk` is the folder of the small disk. */
  readonly turns: (disk: string) => Script;
  /** Shell commands before the run; `$DISK` is the disk, `$ROOT` the repository. */
  readonly before?: string;
  /** Shell commands that mend the machine before the run is resumed. */
  readonly mend: string;
  readonly args?: readonly string[];
}

/**
 * A run whose run directory lies on a disk of 12 MiB, and its resumption after the disk was mended, by the command that it
 * has printed if there is one. The disk is a tmpfs that
 * no process outside sees, so it needs no rights of root and is gone with the last process.
 */
export async function runOnSmallDisk({
  repository,
  turns,
  before = '',
  mend,
  args = [],
}: SmallDiskRun): Promise<{ first: ProcessEnd; resumed: ProcessEnd }> {
  const disk = temporaryFolder();
  const kept = temporaryFolder();
  const server = await startClaudeServer({ turns: turns(disk), apiKey: KEY });
  try {
    await execa('bwrap', [...smallDisk(disk), 'sh', '-c', BOTH, 'sh', ...args], {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        ANTHROPIC_API_KEY: KEY,
        ANTHROPIC_BASE_URL: server.url,
        NODE: process.execPath,
        CLI,
        DISK: disk,
        KEPT: kept,
        ROOT: repository.root,
        BEFORE: before,
        MEND: mend,
      },
      extendEnv: false,
      stdin: 'ignore',
      timeout: PATIENCE_MS,
    });
  } finally {
    await server.close();
  }
  return { first: endIn(kept, 'first'), resumed: endIn(kept, 'resumed') };
}

/** The line that puts a small disk over a folder; programs in it may mount. */
function smallDisk(folder: string): string[] {
  const mayMount = ['--cap-add', 'CAP_SYS_ADMIN'];
  return ['--dev-bind', '/', '/', ...mayMount, '--size', String(12 * 1024 * 1024), '--tmpfs', folder];
}

const BOTH = `
  eval "$BEFORE"
  "$NODE" "$CLI" run -m 'Do it' --repo "$ROOT" --run-dir "$DISK/run" --sandbox off "$@" 2> "$KEPT/first.err"
  echo $? > "$KEPT/first.exit"
  cp -R "$DISK/run" "$KEPT/first"
  eval "$MEND"
  patchsmith() { "$NODE" "$CLI" "$@"; }
  printed=$(sed -n 's/.* continue with: patchsmith/patchsmith/p' "$KEPT/first.err" | tail -n 1)
  eval "\${printed:-patchsmith resume "$DISK/run" --repo "$ROOT" --sandbox off}" 2> "$KEPT/resumed.err"
  echo $? > "$KEPT/resumed.exit"
  cp -R "$DISK/run" "$KEPT/resumed"
  true`;

function endIn(folder: string, name: string): ProcessEnd {
  const read = (file: string) =>
    existsSync(join(folder, file)) ? readFileSync(join(folder, file), 'utf8') : null;
  const stderr = read(`${name}.err`) ?? '';
  const journal = read(`${name}/events.jsonl`) ?? '';
  // The last line may not have fitted.
  validEvents(journal.slice(0, journal.lastIndexOf('\n') + 1));
  const result = read(`${name}/result.json`);
  return {
    exitCode: Number(read(`${name}.exit`)),
    stderr,
    lastLine: stderr.trimEnd().split('\n').at(-1) ?? '',
    result: result === null ? null : resultIn(result),
    patch: read(`${name}/changes.patch`),
  };
}
