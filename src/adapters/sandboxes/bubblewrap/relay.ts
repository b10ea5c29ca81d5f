/**
 * The inner end of the way out. A network namespace has no interface but its own loopback, and programs address proxies by
 * host and port; so a small program in the sandbox forwards a loopback port to the proxy's mounted socket. It also answers as a
 * name server, that there is no such name, and has the proxy count who asked past it.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram } from '../command/shell.ts';
import { realPathOf } from '../host-files.ts';
import type { Mount } from './args.ts';
import { oursInside } from './mounts.ts';
import { NAMES_PORT, nodeRelay, perlRelay, tunnelScript } from './relay-scripts.ts';

/**
 * Every namespace has all ports to itself; this one is used by nothing well known and is outside the kernel's ephemeral
 * range.
 */
const PORT = 17_128;
const PROXY = `http://127.0.0.1:${PORT}`;
/** Whatever runs in the sandbox itself is reached directly, by any of the names that it has for itself. */
const DIRECT = 'localhost,.localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1,[::1],sandbox';

/** Where the program is that ssh and git use for a tunnel. */
export const TUNNEL_INSIDE = '/run/patchsmith/tunnel';

/** Lets programs inside reach the proxy outside, through a socket in the file system. */
export interface Relay {
  /** To be mounted before anything else. */
  readonly mounts: readonly Mount[];
  /**
   * Variables that make programs use the proxy. They are a convenience, not a protection: without them nothing gets out at all.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** The file with the first port that needs no privilege, so that it may answer as a name server; null where none answers. */
  readonly firstPort: string | null;
  /** Shell text for process 1, which starts the relay before the command. */
  readonly start: string;
}

/** `socket` is the proxy's, `files` a private folder, `node` the program that runs us. */
export async function relayTo(socket: string, files: string, node: string): Promise<Relay> {
  const program = oursInside(realPathOf(node) ?? node, 'node');
  const proxy = { ...oursInside(socket, 'proxy.sock'), isSocket: true };
  const write = async (name: string, text: string, mode: number) => {
    await writeFile(join(files, name), text, { mode });
    return oursInside(join(files, name), name);
  };
  const firstPort = join(files, 'first-port');
  const [perl, nodeScript, tunnel] = await Promise.all([
    write('relay.pl', perlRelay(proxy.at, PORT), 0o644),
    write('relay.cjs', nodeRelay(proxy.at, PORT), 0o644),
    write('tunnel', tunnelScript(PORT), 0o755),
    writeFile(firstPort, String(NAMES_PORT), { mode: 0o600 }),
  ]);
  const interpreter = findProgram('perl');
  return {
    mounts: [program, proxy, perl, nodeScript, tunnel],
    variables: PROXY_VARIABLES,
    firstPort,
    start: startingScript([
      ...(interpreter === null ? [] : [`${interpreter} ${perl.at} < /dev/null > /dev/null 2>&1`]),
      // The substitution ends when the relay closes its output.
      `[ "$( (${program.at} ${nodeScript.at} < /dev/null 2> /dev/null & ) )" = ready ]`,
    ]),
  };
}

/**
 * The first of the programs that starts is the relay. It has been orphaned by the time the command starts, and is process 1's:
 * no program that waits for its children sees it, and it dies with the namespace.
 */
function startingScript(starts: readonly string[]): string {
  const failed = "echo 'The relay to the network did not start: nothing can be reached.'";
  return [...starts, failed].join(' || ');
}

const JAVA_OPTIONS = ['http', 'https']
  .flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${PORT}`])
  .join(' ');

/** npm serves requests that wait for a connection from those that the proxy has refused, and so asks again without end. */
const SOCKETS = { npm_config_maxsockets: '10000' };

/** Package managers take the proxy's answer as final: Cargo would ask for 11 seconds, pnpm for more than a minute. */
export const ONE_TRY: Readonly<Record<string, string>> = {
  BUNDLE_RETRY: '0',
  BUN_CONFIG_HTTP_RETRY_COUNT: '0',
  CARGO_NET_RETRY: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  YARN_HTTP_RETRY: '0',
  npm_config_fetch_retries: '0',
  // pnpm 11 and later no longer reads the settings of npm.
  pnpm_config_fetch_retries: '0',
  ...SOCKETS,
};

/** Where hosts are allowed, these may fail for a moment, and others are still refused: package managers ask again, soon. */
export const FEW_TRIES: Readonly<Record<string, string>> = {
  CARGO_NET_RETRY: '1',
  PIP_RETRIES: '2',
  npm_config_fetch_retry_mintimeout: '500',
  npm_config_fetch_retry_maxtimeout: '2000',
  pnpm_config_fetch_retry_mintimeout: '500',
  pnpm_config_fetch_retry_maxtimeout: '2000',
  ...SOCKETS,
};

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
