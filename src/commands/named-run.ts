/** The run that a command is about: the one that is named, else the last one of the checkout, which is then said. */

import { resolve } from 'node:path';
import { withoutKey } from '../config/provider-keys.ts';
import { type Problem, problem } from '../domain/errors/problem.ts';
import type { HostContext } from '../host/context.ts';
import { sayTo } from '../host/say.ts';

/** Stands for the last run; never the id of a run. */
export const LAST = 'last';

/** `run` is the run to find: an id, or the folder of the last run. */
export type NamedRun = { status: 'ok'; run: string } | { status: 'refused'; problems: Problem[] };

/** `asked` is the operand; `repo` a checkout to use instead of the one around the current folder. */
export async function namedRun(
  context: HostContext,
  asked: string | undefined,
  { repo = null, quiet = false }: { repo?: string | null; quiet?: boolean } = {},
): Promise<NamedRun> {
  const { cwd, env } = context;
  if (asked !== undefined && asked !== LAST) return { status: 'ok', run: asked };
  const { findLastRun } = await import('../adapters/storage/find-run.ts');
  const found = await findLastRun({ cwd: repo === null ? cwd : resolve(cwd, repo), env: withoutKey(env) });
  if (found.status === 'failed')
    return { status: 'refused', problems: [problem('ERR_RUN_NOT_FOUND', found.message)] };
  const { path } = found.directory;
  if (!quiet) sayTo(context)(`last run: ${path}`);
  return { status: 'ok', run: path };
}
