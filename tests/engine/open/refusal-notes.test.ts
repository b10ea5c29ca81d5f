import { expect, test } from 'vitest';
import { namingRefusals } from '../../../src/engine/open/refusal-notes.ts';
import type { Sandbox } from '../../../src/ports.ts';
import { commandEnd } from '../../support/runs/events.ts';

/** What is added to the output of a command that fails and says this. */
async function notesOn(said: string): Promise<string[]> {
  const output = { head: said, omitted: 0, tail: '' };
  const sandbox = { run: async () => ({ end: commandEnd(1), output }) } as unknown as Sandbox;
  const named = namingRefusals(sandbox, { refused: () => [] });
  const { signal } = new AbortController();
  const result = await named.run({ script: 'x', timeoutMs: 1_000, signal });
  return result.output.head.slice(said.length).split('\n').filter(Boolean);
}

test.each([
  ['curl: (6) Could not resolve host: db.example\n'],
  ['Error: getaddrinfo EAI_AGAIN db.example\n'],
  ['ssh: Could not resolve hostname db.example: Name or service not known\n'],
  ['dial tcp: lookup db.example on 127.0.0.1:53: connection refused\n'],
  ['java.net.UnknownHostException: db.example\n'],
  ['wget: unable to resolve host address ‘db.example’\n'],
  [
    "NameResolutionError(\"HTTPSConnection(host='db.example', port=443): Failed to resolve 'db.example' ([Errno -3])\")\n",
  ],
  ['psql: error: could not translate host name "db.example" to address: Name or service not known\n'],
])('a name that was not found is named with what would allow it: %j', async (said) => {
  expect(await notesOn(said)).toEqual([
    'Refused by the sandbox: db.example was looked up past the proxy, and there is no name server; for programs that use HTTPS_PROXY: --allow-domain db.example',
  ]);
});

test('what only looks like it is not', async () => {
  expect(await notesOn("could not translate 'a.b'\nFailed to resolve module 'x'\n")).toEqual([]);
});
