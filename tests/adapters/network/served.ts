/** The proxy behind a socket of this machine, in place of the one in a sandbox. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openFilteringProxy } from '../../../src/adapters/network/filtering-proxy.ts';
import type { GateOptions } from '../../../src/adapters/network/gate.ts';
import type { Egress } from '../../../src/ports/network.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

export async function served(options: GateOptions): Promise<Egress & { socket: string }> {
  const proxy = openFilteringProxy(options);
  const server = createServer({ allowHalfOpen: true }, (connection) => proxy.accept(connection));
  const socket = join(tempFolder(), 'proxy.sock');
  server.listen(socket);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { ...proxy, socket };
}
