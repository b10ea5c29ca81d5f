/** A job of GitHub Actions as a command in it sees it: environment and payload of the event. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../files/repository.ts';
import type { GitHub } from '../github-server/server.ts';

export interface Sender {
  readonly login: string;
  readonly id: number;
  readonly type: string;
}

export interface Job {
  readonly event: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly repository: { readonly id: number; readonly full_name: string };
  /** GITHUB_SHA. */
  readonly sha: string;
  readonly sender?: Sender;
  readonly rerunBy?: string;
  readonly token?: string;
}

export function jobEnvironment(server: GitHub, job: Job): Record<string, string> {
  const { event, payload, repository, sha, sender, rerunBy, token } = job;
  const path = join(temporaryFolder(), 'event.json');
  const common = { repository, ...(sender === undefined ? {} : { sender }) };
  writeFileSync(path, JSON.stringify({ ...common, ...payload }));
  const actor = sender?.login ?? 'octocat';
  return {
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_EVENT_NAME: event,
    GITHUB_EVENT_PATH: path,
    GITHUB_REPOSITORY: repository.full_name,
    GITHUB_SHA: sha,
    GITHUB_ACTOR: actor,
    GITHUB_TRIGGERING_ACTOR: rerunBy ?? actor,
    GITHUB_API_URL: server.url,
    GITHUB_SERVER_URL: server.serverUrl,
    ...(token === undefined ? {} : { GITHUB_TOKEN: token }),
  };
}
