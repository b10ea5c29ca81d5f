import { expect, test } from 'vitest';
import { findBlob } from '../../../src/adapters/github/objects.ts';
import type { GitHub, GitHubRequest } from '../../../src/ports/github.ts';

/** GitHub with one content, of which it says this size. */
function withBlob(text: string, size: number): GitHub {
  return {
    async ask<T>({ schema }: GitHubRequest<T>) {
      const content = Buffer.from(text).toString('base64');
      return { status: 'ok', data: schema.parse({ content, encoding: 'base64', size }) };
    },
    list: () => Promise.reject(new Error('Nothing is listed here')),
    query: () => Promise.reject(new Error('Nothing is asked by GraphQL here')),
  };
}

const HELLO = 'b6fc4c620b67d95f953a5c1c1230aaab5db5a1b0';
const at = (github: GitHub) => ({ github, owner: 'acme', repo: 'shop' });

test('contents match their id, and missing ones are distinguished from ones that are too large', async () => {
  expect(await findBlob(at(withBlob('hello', 5)), HELLO)).toEqual(Buffer.from('hello'));
  expect(await findBlob(at(withBlob('other', 5)), HELLO)).toBe('missing');
  expect(await findBlob(at(withBlob('', 33 * 1024 * 1024)), HELLO)).toBe('too large');
});
