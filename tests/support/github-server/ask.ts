/** Plain requests to the local GitHub, past any client, so that tests can send what no client would. */

import { onTestFinished } from 'vitest';
import { type GitHub, startGitHub } from './server.ts';

/** What came back. `body` is null where there was none. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever GitHub answers.
  readonly body: any;
}

/** A GitHub of this test alone, closed when the test has finished. */
export async function serving(): Promise<GitHub> {
  const github = await startGitHub();
  onTestFinished(() => github.close());
  return github;
}

/** `token` null: anonymous. `base`: another than `github.url`. A body that is text is sent as it is. */
export async function ask(
  github: GitHub,
  token: string | null,
  line: string,
  body?: unknown,
  more: { headers?: Record<string, string>; base?: string } = {},
): Promise<Reply> {
  const [method = 'GET', path = '/'] = line.split(' ');
  const response = await fetch(`${more.base ?? github.url}${path}`, {
    method,
    headers: {
      'user-agent': 'tests',
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...more.headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : isJson ? JSON.parse(text) : text,
  };
}
