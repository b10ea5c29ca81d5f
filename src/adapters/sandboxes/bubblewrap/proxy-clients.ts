/** How programs in a sandbox find the proxy. They are a convenience, not a protection: without them nothing gets out at all. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Mount, oursInside } from '../mount.ts';
import { PROXY_PORT } from './listeners.ts';

/** Whatever runs in the sandbox itself is reached directly, by any of the names that it has for itself. */
const DIRECT = 'localhost,.localhost,127.0.0.1,127.0.0.0/8,0.0.0.0,::1,[::1],sandbox';

/** `files` is a private folder. */
export async function tunnelProgram(files: string): Promise<Mount> {
  await writeFile(join(files, 'tunnel'), TUNNEL, { mode: 0o755 });
  return oursInside(join(files, 'tunnel'), 'tunnel');
}

/**
 * Opens a tunnel to the host and port in its arguments, for programs that do not support HTTP proxies but accept a command
 * instead: ssh and git. Refusals by the proxy are printed to stderr.
 */
const TUNNEL = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${PROXY_PORT} || exit 1
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' "$1" "$2" "$1" >&3
IFS= read -r status <&3
case "$status" in
  *' 200 '*) while IFS= read -r line <&3 && [ "$line" != $'\\r' ]; do :; done ;;
  *) status=\${status#HTTP/1.1 }; echo "\${status%$'\\r'}" | cut -c 5- >&2; exit 1 ;;
esac
cat <&3 &
cat >&3
# The end of what is sent is not told: the other side says when it is done.
wait
`;

const javaOptions = (port: number) =>
  ['http', 'https']
    .flatMap((scheme) => [`-D${scheme}.proxyHost=127.0.0.1`, `-D${scheme}.proxyPort=${port}`])
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

/** The variables that name the proxy, and `services` beside it. */
export function proxyVariables(
  services: readonly string[],
  port = PROXY_PORT,
): Readonly<Record<string, string>> {
  const direct = [DIRECT, ...services].join(',');
  const proxy = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    NO_PROXY: direct,
    http_proxy: proxy,
    https_proxy: proxy,
    no_proxy: direct,
    npm_config_proxy: proxy,
    npm_config_https_proxy: proxy,
    npm_config_noproxy: direct,
    YARN_HTTP_PROXY: proxy,
    YARN_HTTPS_PROXY: proxy,
    GRADLE_OPTS: javaOptions(port),
    // Maven 3.9 uses these only if told to.
    MAVEN_OPTS: `${javaOptions(port)} -Daether.connector.http.useSystemProperties=true`,
  };
}
