/** Runs of the built command by a user without privileges, for tests that root runs. */

import { chmodSync, cpSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { type Repository, temporaryFolder } from '../files/repository.ts';
import { CLI } from './cli.ts';
import { type FinishedRun, type ScriptedRun, scriptedRun } from './scripted-run.ts';

const NOBODY = '65534';

export const AS_NOBODY = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'] as const;

/** Only root can become somebody else. */
export const isRoot = process.getuid?.() === 0;

export interface RunAsNobody extends Pick<ScriptedRun, 'turns' | 'args' | 'during'> {
  /** Text of a plan. */
  readonly plan?: string;
}

const ENVIRONMENT = { PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin` };

/** The built command where anybody may read it. */
function readableCli(): string {
  const folder = temporaryFolder();
  chmodSync(folder, 0o755);
  cpSync(dirname(CLI), join(folder, 'dist'), { recursive: true });
  return join(folder, 'dist/cli.js');
}

/** Makes these places that user's own, with all that is in them. */
export async function makeNobodysOwn(...places: readonly string[]): Promise<void> {
  await execa('chown', ['-R', `${NOBODY}:${NOBODY}`, ...places]);
}

/** The same, and says how a run by that user is started. */
export async function givenToNobody(...places: readonly string[]) {
  await makeNobodysOwn(...places);
  return { cli: readableCli(), wrap: AS_NOBODY, env: ENVIRONMENT };
}

/** Runs the built command as that user. */
export function cliAsNobody(args: readonly string[], cwd: string) {
  const [program, ...line] = [...AS_NOBODY, process.execPath, readableCli(), ...args];
  const env = { ...ENVIRONMENT, HOME: cwd };
  return execa(program, line, { cwd, env, extendEnv: false, reject: false });
}

/** A run in a repository that is made that user's own. */
export async function runAsNobody(
  repository: Repository,
  { plan, ...run }: RunAsNobody,
): Promise<FinishedRun> {
  const home = temporaryFolder();
  if (plan !== undefined) writeFileSync(join(home, 'plan.md'), plan);
  const started = await givenToNobody(home, repository.root);
  return scriptedRun({
    ...run,
    ...started,
    ...(plan === undefined ? {} : { plan: join(home, 'plan.md') }),
    repository,
    runDir: join(home, 'run'),
    env: { ...started.env, HOME: home },
  });
}
