/**
 * The inner end of the way out. A network namespace has no interface but its own loopback, and programs address proxies by
 * host and port; so a few lines of node in the sandbox forward a loopback port to the proxy's mounted socket.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { realPathOf } from '../host-files.ts';
import type { Mount } from './args.ts';
import { oursInside } from './mounts.ts';

/**
 * Every namespace has all ports to itself; this one is used by nothing well known and is outside the kernel's ephemeral
 * range.
 */
const PORT = 17_128;
const PROXY = `http://127.0.0.1:${PORT}`;
/** Whatever runs in the sandbox itself is reached directly. */
const DIRECT = 'localhost,127.0.0.1,::1';

/** Lets programs inside reach the proxy outside, through a socket in the file system. */
export interface Relay {
  /** To be mounted before anything else. */
  readonly mounts: readonly Mount[];
  /** Make programs use the proxy. They are a convenience: without them nothing gets out at all. */
  readonly variables: Readonly<Record<string, string>>;
  /** The command line that starts the relay and then becomes `line`. */
  around(line: readonly string[]): string[];
}

/** `socket` is the proxy's, `files` a private folder, `node` the program that runs us. */
export async function relayTo(socket: string, files: string, node: string): Promise<Relay> {
  const program = oursInside(realPathOf(node) ?? node, 'node');
  const proxy = oursInside(socket, 'proxy.sock');
  const script = join(files, 'relay.cjs');
  await writeFile(script, relayScript(proxy.at), { mode: 0o644 });
  const relay = oursInside(script, 'relay.cjs');
  return {
    mounts: [program, proxy, relay],
    variables: PROXY_VARIABLES,
    around: (line) => ['/bin/sh', '-c', startingScript(program.at, relay.at), 'sh', ...line],
  };
}

/**
 * The substitution ends when the relay closes its output, which it does once it listens. By then the relay has been
 * orphaned, so no program that waits for its children sees it; it dies with the namespace.
 */
function startingScript(node: string, relay: string): string {
  return (
    `[ "$( (${node} ${relay} < /dev/null 2> /dev/null & ) )" = ready ] || ` +
    `echo 'The relay to the network did not start: nothing can be reached.' >&2; exec "$@"`
  );
}

function relayScript(socket: string): string {
  return `'use strict';
const net = require('node:net');
const fs = require('node:fs');
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: ${JSON.stringify(socket)}, allowHalfOpen: true });
  for (const [from, to] of [[inner, outer], [outer, inner]]) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
});
server.listen(${PORT}, '127.0.0.1', () => {
  fs.writeSync(1, 'ready');
  fs.closeSync(1);
  // In its place, or the next connection would be descriptor 1, which node never closes without falling over.
  fs.openSync('/dev/null', 'w');
});
`;
}

const JAVA_OPTIONS = ['http', 'https']
  .flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${PORT}`])
  .join(' ');

const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  NO_PROXY: DIRECT,
  http_proxy: PROXY,
  https_proxy: PROXY,
  no_proxy: DIRECT,
  npm_config_proxy: PROXY,
  npm_config_https_proxy: PROXY,
  npm_config_noproxy: DIRECT,
  YARN_HTTP_PROXY: PROXY,
  YARN_HTTPS_PROXY: PROXY,
  GRADLE_OPTS: JAVA_OPTIONS,
  // Maven 3.9 uses these only if told to.
  MAVEN_OPTS: `${JAVA_OPTIONS} -Daether.connector.http.useSystemProperties=true`,
};
