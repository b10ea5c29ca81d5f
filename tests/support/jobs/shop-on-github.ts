/** acme/shop on a local GitHub, where ann may write, with a plan for issues, and what happens there: events and workflows. */

import type { Script } from '../claude-server/script.ts';
import { type ClaudeServer, startClaudeServer } from '../claude-server/server.ts';
import { ask } from '../github-server/ask.ts';
import { type GitHub, type GitHubRepository, startGitHub } from '../github-server/server.ts';
import { KEY } from '../runs/scripted-run.ts';
import { type JobEnd, runWorkflow, type WorkflowRun } from './workflow-runner.ts';

const NAME = 'acme/shop';

export interface ShopOnGitHub {
  readonly github: GitHub;
  readonly repository: GitHubRepository;
  readonly model: ClaudeServer;
  /** What the API shows. */
  read(path: string): Promise<Record<string, unknown>>;
  /** The payload of an event, sent by ann unless it names another sender. */
  payload(more?: object): Promise<Record<string, unknown>>;
  /** The payload of a comment that is sent now. */
  commented(number: number, body: string, login?: string): Promise<Record<string, unknown>>;
  /** The workflow with the key: that of the template `issues` for an event by that name, unless others are given. */
  carryOut(event: WorkflowRun['event'], more?: Partial<WorkflowRun>): Promise<JobEnd[]>;
  close(): Promise<void>;
}

export interface ShopGiven {
  readonly private?: boolean;
  /** The command in the plans. */
  readonly verify?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly clock?: () => number;
}

export const template = (name: string) =>
  new URL(`../../../docs/workflows/${name}.yml`, import.meta.url).pathname;

export async function openShopOnGitHub(turns: Script, given: ShopGiven = {}): Promise<ShopOnGitHub> {
  const github = await startGitHub(given.clock === undefined ? {} : { clock: given.clock });
  const model = await startClaudeServer({ turns, apiKey: KEY });
  const plan = `---\nverify:\n  - ${JSON.stringify(given.verify ?? 'test -f a.txt')}\n---\n\nDo what the issue asks for.\n`;
  const plans = ['issue', 'maintenance', 'documentation'].map((name) => [
    `.github/patchsmith/${name}.md`,
    plan,
  ]);
  const repository = await github.addRepository(NAME, {
    organization: true,
    private: given.private ?? false,
    collaborators: { ann: 'write', bob: 'read' },
    files: { 'a.txt': 'old\n', ...Object.fromEntries(plans), ...given.files },
  });
  const { id } = github.addUser('ann');
  const sender = { login: 'ann', id, type: 'User' };
  const reader = github.addToken({ kind: 'user', login: 'acme-admin', permissions: { issues: 'read' } });
  const read: ShopOnGitHub['read'] = async (path) =>
    (await ask(github, reader, `GET /repos/${NAME}${path}`)).body;
  const payload = async (more: object = {}) => ({ repository: await read(''), sender, ...more });
  return {
    ...{ github, repository, model, read, payload },
    async commented(number, body, login = 'ann') {
      const added = github.addComment(NAME, number, { body, author: login });
      const comment = await read(`/issues/comments/${added.id}`);
      const issue = await read(`/issues/${number}`);
      return payload({ action: 'created', comment, issue, sender: comment.user });
    },
    carryOut: (event, more) =>
      runWorkflow({
        ...{ github, repository, event, workflow: template('issues'), actor: 'ann' },
        secrets: { ANTHROPIC_API_KEY: KEY },
        ...more,
        env: { ANTHROPIC_BASE_URL: model.url, ...more?.env },
      }),
    close: () => Promise.all([github.close(), model.close()]).then(() => undefined),
  };
}
