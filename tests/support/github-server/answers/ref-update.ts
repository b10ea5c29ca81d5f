/** What forbids that a ref moves, apart from git. */

import { runElsewhere } from '../../machine/elsewhere.ts';
import { notAccessible } from '../permissions.ts';
import { unprocessable } from '../refusal.ts';
import { CHECK_RULES, rulesText } from '../state/rules.ts';
import type { Repository, Token } from '../state/world.ts';

/** Throws the refusal of GitHub. */
export async function checkRefUpdate(
  repository: Repository,
  token: Token | null,
  name: string,
  sha: string,
): Promise<void> {
  if (repository.settings.protectedBranches.some((branch) => name === `refs/heads/${branch}`)) {
    throw unprocessable(
      `Protected branch update failed for ${name}.\n\nChanges must be made through a pull request.`,
    );
  }
  const { store, settings } = repository;
  const { exitCode, stderr } = await runElsewhere({
    program: 'sh',
    args: ['-c', CHECK_RULES, 'update', name, (await store.ref(name)) ?? '0'.repeat(40), sha],
    cwd: store.folder,
    env: {
      PATH: process.env.PATH,
      SERVER_RULES: rulesText(settings),
      SERVER_DEFAULT: settings.defaultBranch,
    },
  });
  if (exitCode !== 0) throw unprocessable(stderr.replace('error: GH013: ', '').trim());
  if (token === null || token.permissions.workflows === 'write') return;
  if ((await newWorkflow(repository, sha)) !== null)
    throw notAccessible(token, ['contents=write,workflows=write']);
}

/** A workflow file of this commit that no branch has like this; null when there is none. */
export async function newWorkflow({ store }: Repository, sha: string): Promise<string | null> {
  const workflows = async (commit: string): Promise<string[]> => {
    const out = await store.text([
      'ls-tree',
      '-r',
      '--format=%(objectname) %(path)',
      commit,
      '.github/workflows/',
    ]);
    return out.split('\n').filter((line) => line !== '');
  };
  const heads = await store.refs('refs/heads/');
  const known = new Set((await Promise.all(heads.map((head) => workflows(head.sha)))).flat());
  const added = (await workflows(sha)).find((line) => !known.has(line));
  return added === undefined ? null : added.slice(41);
}
