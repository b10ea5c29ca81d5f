/** Repositories, the rules of branches, comparisons, roles. */

import { type Answer, type Call, type Handler, page } from '../call.ts';
import { notFound, Refusal } from '../refusal.ts';
import { resolveCommit } from '../state/revision.ts';
import { type Repository, roleOf } from '../state/world.ts';
import { showCommit, showRepository, showUser } from '../views.ts';

export const repositories: Readonly<Record<string, Handler>> = {
  'repos/get': (call) => ({
    status: 200,
    body: showRepository(call.world, call.repository(), call.token),
  }),
  'repos/get-branch-rules': getBranchRules,
  'repos/get-repo-ruleset': getRuleset,
  'repos/list-commits': listCommits,
  'repos/compare-commits-with-basehead': compare,
  'repos/get-collaborator-permission-level': getRole,
};

/** Commits of one page of a comparison, and files of the first. */
const MAX_COMMITS = 250;
const MAX_FILES = 300;

/** Each rule is of a ruleset of its own. */
function getBranchRules(call: Call): Answer {
  const { settings, fullName } = call.repository();
  const rules = call.params.branch === settings.defaultBranch ? [] : settings.rules;
  const source = { ruleset_source_type: 'Repository', ruleset_source: fullName };
  return page(
    call,
    rules.map(({ bypass: _, ...rule }, at) => ({ ...rule, ...source, ruleset_id: at + 1 })),
  );
}

function getRuleset(call: Call): Answer {
  const { settings, fullName } = call.repository();
  const rule = settings.rules[Number(call.params.ruleset_id) - 1];
  if (rule === undefined) throw notFound();
  const ruleset = { id: Number(call.params.ruleset_id), name: rule.type, source: fullName };
  const current_user_can_bypass = rule.bypass ?? 'never';
  return { status: 200, body: { ...ruleset, enforcement: 'active', current_user_can_bypass } };
}

/** Newest first. */
async function listCommits(call: Call): Promise<Answer> {
  const repository = call.repository();
  const { store, settings } = repository;
  const sha = await resolveCommit(call.world, repository, call.query.get('sha') ?? settings.defaultBranch);
  if (sha === null) throw notFound();
  const since = call.query.get('since');
  const dated = since === null ? [] : [`--since=${since}`];
  const ids = (await store.text(['rev-list', ...dated, sha])).split('\n').filter(Boolean);
  const { body, headers } = page(call, ids);
  const show = async (id: string) => showCommit(call.world, repository, await store.commit(id));
  return { status: 200, headers: headers ?? {}, body: await Promise.all((body as string[]).map(show)) };
}

async function compare(call: Call): Promise<Answer> {
  const repository = call.repository();
  const { store } = repository;
  const [baseName = '', headName = ''] = call.params.basehead?.split('...') ?? [
    call.params.base,
    call.params.head,
  ];
  const base = await resolveCommit(call.world, repository, baseName);
  const head = await resolveCommit(call.world, repository, headName);
  if (base === null || head === null) throw notFound();
  if (!(await store.holds('merge-base', base, head)))
    throw new Refusal(404, `No common ancestor between ${baseName} and ${headName}.`);
  const mergeBase = await store.text(['merge-base', base, head]);
  const list = async (range: string): Promise<string[]> =>
    (await store.text(['rev-list', '--reverse', '--topo-order', range])).split('\n').filter(Boolean);
  const ahead = await list(`${base}..${head}`);
  const behind = await list(`${head}..${base}`);
  const asked = call.query.has('page') || call.query.has('per_page');
  const shown = asked ? (page(call, ahead).body as string[]) : ahead.slice(0, MAX_COMMITS);
  const show = async (sha: string): Promise<unknown> =>
    showCommit(call.world, repository, await store.commit(sha));
  const isFirst = (call.query.get('page') ?? '1') === '1';
  const status =
    ahead.length === 0
      ? behind.length === 0
        ? 'identical'
        : 'behind'
      : behind.length === 0
        ? 'ahead'
        : 'diverged';
  return {
    status: 200,
    headers: asked ? (page(call, ahead).headers ?? {}) : {},
    body: {
      url: `${call.world.apiUrl}${call.seen.path}`,
      status,
      ahead_by: ahead.length,
      behind_by: behind.length,
      total_commits: ahead.length,
      base_commit: await show(base),
      merge_base_commit: await show(mergeBase),
      commits: await Promise.all(shown.map(show)),
      ...(isFirst ? { files: await changedFiles(repository, mergeBase, head) } : {}),
    },
  };
}

/** `from` null: against nothing. */
export async function changedFiles(
  { store }: Repository,
  from: string | null,
  to: string,
): Promise<Record<string, unknown>[]> {
  const args = from === null ? ['--root', to] : [from, to];
  const out = await store.bytes(['diff-tree', '-r', '-M', '-z', '--raw', '--no-commit-id', ...args]);
  const parts = out.toString('utf8').split('\0');
  const files: Record<string, unknown>[] = [];
  for (let at = 0; at < parts.length - 1; ) {
    const [, , , sha = '', letter = ''] = (parts[at] ?? '').split(' ');
    const renamed = letter.startsWith('R');
    const status = { A: 'added', D: 'removed', R: 'renamed', T: 'changed' }[letter[0] ?? ''] ?? 'modified';
    files.push({
      sha: status === 'removed' ? null : sha,
      filename: parts[at + (renamed ? 2 : 1)],
      status,
      ...(renamed ? { previous_filename: parts[at + 1] } : {}),
      ...(await patchOf(store, args, String(parts[at + (renamed ? 2 : 1)]))),
    });
    at += renamed ? 3 : 2;
  }
  return files.slice(0, MAX_FILES);
}

/** Its hunks; nothing for binary contents, and for files that are only renamed. */
async function patchOf(
  store: Repository['store'],
  args: string[],
  path: string,
): Promise<{ patch?: string }> {
  const diff = await store.text(['diff-tree', '-p', '-M', '--no-commit-id', ...args, '--', path]);
  const from = diff.search(/^@@ /m);
  return from === -1 ? {} : { patch: diff.slice(from) };
}

function getRole(call: Call): Answer {
  const repository = call.repository();
  const login = call.params.username ?? '';
  const account = call.world.account(login);
  if (account === undefined) throw notFound();
  if (account.type !== 'User') throw new Refusal(404, `${login} is not a user`);
  const role = roleOf(repository, account) ?? (repository.settings.private ? 'none' : 'read');
  // The old field knows four words only.
  const permission = { maintain: 'write', triage: 'read' }[role as string] ?? role;
  const user = { ...showUser(call.world, account), role_name: role };
  return { status: 200, body: { permission, role_name: role, user } };
}
