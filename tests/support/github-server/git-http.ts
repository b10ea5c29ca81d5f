/** `git http-backend` behind the addresses that people clone from and push to. */

import type { IncomingMessage } from 'node:http';
import { runElsewhere } from '../machine/elsewhere.ts';
import { CHECK_RULES, rulesText } from './state/rules.ts';
import type { Repository, Token } from './state/world.ts';

/** A request of git's own protocol. */
export interface GitRequest {
  /** Owner and name. */
  readonly fullName: string;
  /** What follows the repository's address. */
  readonly rest: string;
  readonly service: 'upload-pack' | 'receive-pack';
}

/** Null when the path is not git's. */
export function gitRequest(path: string, query: URLSearchParams): GitRequest | null {
  const [, owner, name, rest] =
    /^\/([^/]+)\/([^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(path) ?? [];
  if (owner === undefined || name === undefined || rest === undefined) return null;
  const named = rest === 'info/refs' ? query.get('service') : rest;
  if (named !== 'git-upload-pack' && named !== 'git-receive-pack') return null;
  return {
    fullName: `${owner}/${name}`,
    rest,
    service: named === 'git-upload-pack' ? 'upload-pack' : 'receive-pack',
  };
}

export interface GitAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export async function serveGit(
  { rest }: GitRequest,
  repository: Repository,
  token: Token | null,
  request: IncomingMessage,
  body: Buffer,
): Promise<GitAnswer> {
  const { headers, method = 'GET', url = '' } = request;
  // What cannot be served is told to git in the answer, and by the exit code.
  const { stdout: output, stderr } = await runElsewhere({
    program: 'git',
    args: ['http-backend'],
    input: body,
    env: {
      PATH: process.env.PATH ?? '',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_PROJECT_ROOT: repository.store.folder,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${rest}`,
      QUERY_STRING: url.split('?')[1] ?? '',
      REQUEST_METHOD: method,
      CONTENT_TYPE: headers['content-type'] ?? '',
      CONTENT_LENGTH: String(body.length),
      HTTP_CONTENT_ENCODING: String(headers['content-encoding'] ?? ''),
      GIT_PROTOCOL: String(headers['git-protocol'] ?? ''),
      REMOTE_USER: token?.account.login ?? '',
      REMOTE_ADDR: '127.0.0.1',
      // Read by the repository's update hook.
      SERVER_MAY_CHANGE_WORKFLOWS: token?.permissions.workflows === 'write' ? 'yes' : '',
      SERVER_LFS: [...repository.lfs].join(' '),
      SERVER_RULES: rulesText(repository.settings),
      SERVER_DEFAULT: repository.settings.defaultBranch,
      SERVER_PROTECTED: repository.settings.protectedBranches.map((name) => `refs/heads/${name}`).join(' '),
    },
  });
  const end = output.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`git http-backend answers nothing: ${stderr}`);
  const lines = output.subarray(0, end).toString('latin1').split('\r\n');
  const given = new Map(
    lines.map((line) => [
      line.slice(0, line.indexOf(':')).toLowerCase(),
      line.slice(line.indexOf(':') + 1).trim(),
    ]),
  );
  const status = Number.parseInt(given.get('status') ?? '200', 10);
  given.delete('status');
  return { status, headers: Object.fromEntries(given), body: output.subarray(end + 4) };
}

/** Refuses what GitHub refuses at a push, in its words. */
export const UPDATE_HOOK = `#!/bin/sh
for ref in $SERVER_PROTECTED; do
  if test "$1" = "$ref"; then
    echo "error: GH006: Protected branch update failed for $1." >&2
    exit 1
  fi
done
case "$3" in *[!0]*) ;; *) exit 0;; esac
${CHECK_RULES}
lacking=$(git grep -hE '^oid sha256:[0-9a-f]{64}$' "$3" -- | cut -d: -f2 | while read -r oid; do
  case " $SERVER_LFS " in *" $oid "*) ;; *) echo "    $oid";; esac
done)
if test -n "$lacking"; then
  echo "error: GH008: Your push referenced at least 1 unknown Git LFS object:" >&2
  echo "$lacking" >&2
  echo "Try to push them with 'git lfs push --all'." >&2
  exit 1
fi
test -n "$SERVER_MAY_CHANGE_WORKFLOWS" && exit 0
known=$(git for-each-ref --format='%(objectname)' refs/heads | while read -r head; do
  git ls-tree -r "$head" .github/workflows/
done)
git ls-tree -r "$3" .github/workflows/ | while IFS= read -r line; do
  case "$known" in *"$line"*) ;; *)
    path=$(printf '%s' "$line" | cut -f2)
    echo "refusing to allow a GitHub App to create or update workflow \\\`$path\\\` without \\\`workflows\\\` permission" >&2
    exit 1;;
  esac
done
`;
