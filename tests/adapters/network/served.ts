/** The proxy behind a socket of this machine, in place of the one in a sandbox. */

import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openFilteringProxy } from '../../../src/adapters/network/filtering-proxy.ts';
import type { GateOptions } from '../../../src/adapters/network/gate.ts';
import { type HostUse, type RefusedHost, withUses } from '../../../src/domain/review/egress.ts';
import type { SandboxNetwork } from '../../../src/ports/network.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

/** The proxy, and what it has refused so far. */
export type Counting = SandboxNetwork & { refused(): RefusedHost[] };

export function counting(options: GateOptions): Counting {
  let uses: HostUse[] = [];
  const proxy = openFilteringProxy({
    ...options,
    onUsed(use) {
      uses = withUses(uses, [{ by: 'command', times: 1, allow: null, ...use }]);
    },
  });
  const refused = () => uses.flatMap(({ by: _, outcome, ...host }) => (outcome === 'refused' ? [host] : []));
  return { ...proxy, refused };
}

export async function served(options: GateOptions): Promise<Counting & { socket: string }> {
  const proxy = counting(options);
  const server = createServer({ allowHalfOpen: true }, (connection) => proxy.accept(connection));
  const socket = join(tempFolder(), 'proxy.sock');
  server.listen(socket);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { ...proxy, socket };
}
