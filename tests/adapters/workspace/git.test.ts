import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { askGit } from '../../../src/adapters/workspace/git.ts';
import { tempFolder } from '../../support/temp-folder.ts';

test('an interrupted call to a server that says nothing ends at once, with all its processes', async () => {
  let arrived = () => {};
  const asked = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const silent = createServer(() => arrived());
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as AddressInfo;
  const stop = new AbortController();
  const call = askGit({
    cwd: tempFolder(),
    args: ['ls-remote', `http://127.0.0.1:${port}/a/b.git`],
    signal: stop.signal,
  });
  await asked;
  stop.abort();
  await expect(call).rejects.toThrow('killed by SIGKILL');
  silent.closeAllConnections();
  silent.close();
});
