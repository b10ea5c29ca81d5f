import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { tempFolder } from '../../support/files/temp-folder.ts';
import { listening } from '../../support/http/listening.ts';
import { until } from '../../support/waiting/until.ts';
import { type Counting, counting } from '../network/served.ts';
import { makePlace, type Opened, open, versionOutside } from './fixture.ts';

/** A web server on loopback that the hosts of the list are looked up at, and what it was asked for. */
async function origin(
  answer: (path: string, host: string) => string | Buffer = (path) => `you asked for ${path}`,
) {
  const asked: string[] = [];
  const server = createServer(({ url = '', headers }, response) => {
    asked.push(url);
    response.end(answer(url, headers.host ?? ''));
  });
  return { port: await listening(server), asked };
}

/** A sandbox whose way out leads to loopback, for hosts on the list. */
async function openWithNetwork(
  allowed: string[],
  hostEnv: NodeJS.ProcessEnv = process.env,
  mounts: string[] = [],
): Promise<Opened & { proxy: Counting }> {
  const proxy = counting({
    allowed,
    resolve: async () => ['127.0.0.1'],
    mayConnect: (address) => address === '127.0.0.1',
  });
  const opened = await open(makePlace(), 'required', hostEnv, undefined, mounts, proxy);
  return { ...opened, proxy };
}

const CURL = versionOutside('curl --version') !== null;
const NPM = versionOutside('npm --version') !== null;

/** Fetches a page with node alone, through the proxy that the environment names or past it. */
const fetching = (url: string) =>
  `node -e 'const { hostname, port } = new URL(process.env.http_proxy);` +
  `require("http").get({ hostname, port, path: "${url}", headers: { host: "x" } }, (r) => r.pipe(process.stdout))'`;

describe('a sandbox with hosts that may be reached', () => {
  test('lets package managers retry without long waits, since most of their requests are allowed', async () => {
    const { text } = await openWithNetwork(['good.example']);
    const variables = /^(\w*(?:retr|maxsockets)\w*=.*)$/gim;
    expect([...(await text('env | sort')).matchAll(variables)].map(([, one]) => one)).toEqual([
      'CARGO_NET_RETRY=1',
      'PIP_RETRIES=2',
      'npm_config_fetch_retry_maxtimeout=2000',
      'npm_config_fetch_retry_mintimeout=500',
      'npm_config_maxsockets=10000',
      'pnpm_config_fetch_retry_maxtimeout=2000',
      'pnpm_config_fetch_retry_mintimeout=500',
    ]);
  });

  test.skipIf(!CURL)(
    'is told by curl what was refused, and gets past the proxy by no option of it',
    async () => {
      const { port, asked } = await origin();
      const { run, text, proxy } = await openWithNetwork([`good.example:${port}`]);
      expect(await text(`curl -sS http://good.example:${port}/curl`)).toBe('you asked for /curl');
      expect(await text(`curl -s http://evil.example:${port}/`)).toContain('evil.example');
      const { output } = await run('curl -sSv https://evil.example/ 2>&1');
      expect(output.head).toContain('Refused by the sandbox: evil.example is not one of the allowed domains');
      for (const options of [
        "--noproxy '*'",
        `--noproxy '*' --resolve good.example:${port}:127.0.0.1`,
        `--noproxy '*' --resolve good.example:${port}:169.254.169.254`,
      ]) {
        const { end } = await run(`curl -sS --max-time 5 ${options} http://good.example:${port}/`);
        expect([options, end.exitCode]).not.toEqual([options, 0]);
      }
      expect(await text(`curl -s --noproxy '' http://127.0.0.1:${port}/`)).toContain(
        'an address is not a host name',
      );
      expect(asked).toEqual(['/curl']);
      expect(proxy.refused().map(({ host }) => host)).toEqual([
        `evil.example:${port}`,
        'evil.example',
        `127.0.0.1:${port}`,
      ]);
    },
  );

  test('tells Maven of its proxy and of its mounted repository, in the one variable that there is', async () => {
    const home = tempFolder({ '.m2/repository/x': 'jar' });
    const env = { PATH: process.env.PATH, HOME: home };
    const { text } = await openWithNetwork(['good.example'], env, [`${home}/.m2/repository:rw`]);
    expect(await text('echo "$MAVEN_OPTS"')).toMatch(
      /^-Dmaven\.repo\.local=\/\S+\/\.m2\/repository -Dhttp\.proxyHost=127\.0\.0\.1 .*useSystemProperties=true\n$/,
    );
  });

  test('is of one command alone, also beside another, and nothing of it stays open', async () => {
    const { root, run, text } = await openWithNetwork(['good.example']);
    const sockets = () =>
      readdirSync('/proc/self/fd').filter((fd) => linkOf(fd).startsWith('socket:')).length;
    await text('true');
    const before = sockets();
    const server = `require("net").createServer().listen(9999, "127.0.0.1", () => require("fs").writeFileSync("begun", ""))`;
    const running = run(
      `exec 3<>/dev/tcp/127.0.0.1/17128; node -e '${server}' & until [ -e go-on ]; do sleep 0.05; done`,
    );
    await until('it has begun', () => existsSync(join(root, 'begun')));
    const beside = await text(
      'readlink /proc/self/ns/net; (exec 3<>/dev/tcp/127.0.0.1/9999) 2> /dev/null || echo refused',
    );
    expect(beside).toMatch(/^net:\[\d+\]\nrefused\n$/);
    expect(beside).not.toContain(readlinkSync('/proc/self/ns/net'));
    expect(sockets()).toBeGreaterThan(before);
    writeFileSync(join(root, 'go-on'), '');
    expect((await running).end.exitCode).toBe(0);
    await until('its sockets are closed', () => sockets() === before);
  });

  test('reaches them while another command holds as many connections as it may', async () => {
    const { port } = await origin();
    const { root, run, text } = await openWithNetwork([`good.example:${port}`]);
    const held = `let n = 0; for (let i = 0; i < 600; i++) require("net").connect(17128, "127.0.0.1", () => ++n === 600 && require("fs").writeFileSync("held", "")).on("error", () => {});`;
    const holding = run(
      `node -e '${held} setInterval(() => {}, 1e3)' & until [ -e go-on ]; do sleep 0.05; done`,
    );
    await until('they are held', () => existsSync(join(root, 'held')));
    expect(await text(fetching(`http://good.example:${port}/beside`))).toBe('you asked for /beside');
    writeFileSync(join(root, 'go-on'), '');
    await holding;
  });

  test.skipIf(!NPM)(
    'ends npm that asks a refused registry for more packages than it has connections',
    async () => {
      const { root, run, proxy } = await openWithNetwork(['good.example']);
      const names = Array.from({ length: 40 }, (_, at) => `part-${at}`);
      lockPackages(root, { registry: 'https://evil.example', names, integrity: 'sha512-AA==' });
      const { end, output } = await run('npm ci 2>&1');
      expect(end, output.head).toMatchObject({ timedOut: false, exitCode: 1 });
      expect(output.head).toContain('403 Refused by the sandbox: evil.example');
      expect(proxy.refused()).toMatchObject([{ host: 'evil.example' }]);
    },
  );

  test.skipIf(!NPM)(
    'installs packages with npm ci from a registry on the list, and from no other',
    async () => {
      const folder = tempFolder({
        'package/package.json': JSON.stringify({ name: 'left-part', version: '1.0.0', main: 'index.js' }),
        'package/index.js': 'module.exports = "installed";\n',
      });
      execFileSync('tar', ['-C', folder, '-czf', join(folder, 'left-part.tgz'), 'package']);
      const tarball = readFileSync(join(folder, 'left-part.tgz'));
      const { port, asked } = await origin(() => tarball);
      const { root, text, run, proxy } = await openWithNetwork([`registry.example:${port}`]);
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      const lockFor = (host: string) =>
        lockPackages(root, { registry: `http://${host}:${port}`, names: ['left-part'], integrity });
      lockFor('registry.example');
      expect(await text('npm ci > /dev/null && node -p "require(\'left-part\')"')).toBe('installed\n');
      expect(asked).toEqual(['/left-part/-/left-part-1.0.0.tgz']);
      lockFor('evil.example');
      const { end, output } = await run('rm -rf node_modules; npm ci --cache /tmp/other 2>&1');
      expect(end.exitCode).not.toBe(0);
      expect(output.head).toContain('403 Refused by the sandbox: evil.example');
      expect(proxy.refused()).toMatchObject([{ host: `evil.example:${port}`, times: 1 }]);
    },
  );
});

/** Makes a project of npm whose lock file names these packages of a registry. */
function lockPackages(
  root: string,
  { registry, names, integrity }: { registry: string; names: string[]; integrity: string },
): void {
  const dependencies = Object.fromEntries(names.map((name) => [name, '1.0.0']));
  const manifest = { name: 'project', version: '1.0.0', dependencies };
  const locked = names.map((name) => [
    `node_modules/${name}`,
    { version: '1.0.0', resolved: `${registry}/${name}/-/${name}-1.0.0.tgz`, integrity },
  ]);
  const packages = { '': manifest, ...Object.fromEntries(locked) };
  writeFileSync(join(root, 'package.json'), JSON.stringify(manifest));
  writeFileSync(
    join(root, 'package-lock.json'),
    JSON.stringify({ ...manifest, lockfileVersion: 3, packages }),
  );
  writeFileSync(join(root, '.npmrc'), `registry=${registry}/\naudit=false\nfund=false\nfetch-retries=0\n`);
}

const SSH = versionOutside('ssh -V') !== null;

describe('what is not allowed', () => {
  test('is named to programs that know no HTTP proxy, such as git by git:// and ssh', async () => {
    const { run, proxy } = await openWithNetwork([]);
    const tries = [
      'git ls-remote git://evil.example/a',
      ...(SSH ? ['git ls-remote git@evil.example:a/b'] : []),
    ];
    for (const command of tries) {
      const { end, output } = await run(command);
      const port = command.includes('git://') ? 9418 : 22;
      expect(output.head).toContain(
        `Refused by the sandbox: evil.example:${port} is refused: no host is allowed; to allow it: --allow-domain evil.example:${port}`,
      );
      // By itself, at once, and not by the time limit of the command.
      expect(end).toMatchObject({ exitCode: 128, timedOut: false });
    }
    expect(proxy.refused()).toHaveLength(tries.length);
  });

  test('is a final answer where a program looks names up by itself', async () => {
    const { text } = await openWithNetwork([]);
    const lookup = 'require("dns").lookup("evil.example", (e) => console.log(e.code))';
    expect(await text(`node -e '${lookup}'`)).toBe('ENOTFOUND\n');
    expect(await text('getent hosts localhost sandbox | wc -l')).toBe('2\n');
  });
});

describe('the way out', () => {
  const fetched = 8 * 1024 * 1024;

  test('hears which names are looked up past the proxy, at once and by whatever program', async () => {
    const { text, proxy } = await openWithNetwork(['good.example', 'other.example:8443']);
    const script = `
        const { promises: dns } = require("dns");
        (async () => {
          const began = Date.now();
          const asked = ["evil.example", "Evil.Example", "good.example", "other.example", "here", "no.invalid"];
          for (const name of asked) await dns.lookup(name).catch(({ code }) => console.log(code));
          await dns.resolveTxt("data.evil.example").catch(({ code }) => console.log(code));
          console.log(Date.now() - began < 1500);
        })();`;
    expect(await text(`node -e '${script.replaceAll('\n', ' ')}'; true`)).toBe(
      `${'ENOTFOUND\n'.repeat(7)}true\n`,
    );
    const allow = (host: string) => `--allow-domain ${host}`;
    const hosts = ['evil.example', 'data.evil.example'];
    expect(proxy.refused()).toMatchObject(hosts.map((host) => ({ host, times: 1, allow: allow(host) })));
  });

  test('outlives questions that are none', async () => {
    const { text, proxy } = await openWithNetwork(['good.example']);
    const script = `
      const socket = require("dgram").createSocket("udp4");
      const head = [0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
      const named = (name) => [name.length, ...Buffer.from(name, "latin1"), 3, 99, 111, 109, 0, 0, 1, 0, 1];
      const tails = [[63, 65, 65, 65, 65], [192, 12, 0, 1, 0, 1], [255, 0, 0, 0, 0], Array(60000).fill(63), Array(4000).fill(1)];
      tails.push(...["a\\n.b", "a\\x1b[31m", "a b", "../..", "##[error]x"].map(named));
      const packets = [[], [0], head, ...tails.map((tail) => [...head, ...tail])];
      Promise.all(packets.map((bytes) => new Promise((sent) => socket.send(Buffer.from(bytes), 53, "127.0.0.1", sent)))).then(() => {
        socket.close();
        require("dns").lookup("evil.example", ({ code }) => console.log(code));
      });`;
    expect(await text(`node -e '${script.replaceAll('\n', ' ')}'; true`)).toBe('ENOTFOUND\n');
    expect(proxy.refused()).toMatchObject([{ host: 'evil.example', times: 1 }]);
  });

  test('carries a lot at a time, and half a close', async () => {
    const { port } = await origin(() => Buffer.alloc(fetched, 'x'));
    const echo = createTcpServer({ allowHalfOpen: true }, (socket) => {
      let bytes = 0;
      socket.on('data', (chunk) => {
        bytes += chunk.length;
      });
      socket.on('end', () => socket.end(`got ${bytes}`));
    }).listen(0, '127.0.0.1');
    await once(echo, 'listening');
    onTestFinished(() => void echo.close());
    const { port: echoPort } = echo.address() as AddressInfo;
    const { text } = await openWithNetwork([`good.example:${port}`, `good.example:${echoPort}`]);
    const get = `curl -s http://good.example:${port}/ | wc -c`;
    const send = `node -e '
      const socket = require("net").connect({ port: 17128, host: "127.0.0.1", allowHalfOpen: true });
      socket.end("CONNECT good.example:${echoPort} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n" + "x".repeat(${fetched}));
      socket.pipe(process.stdout);'`;
    expect((await text(`(${get}) & (${get}) & wait; ${send} | tail -n 1`)).trim().split('\n')).toEqual([
      ...Array(2).fill(String(fetched)),
      `got ${fetched}`,
    ]);
  });
});

function linkOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}
