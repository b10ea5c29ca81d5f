import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { startConnectProxy } from '../../support/machine/connect-proxy.ts';
import { checkoutOf, runCli } from '../../support/runs/cli.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const domains = (...names: string[]) => names.flatMap((name) => ['--allow-domain', name]);

/** A web server on every address of this machine, and how often somebody came. */
async function victim(): Promise<{ port: number; visits: () => number }> {
  let visits = 0;
  const server: Server = createServer((_request, response) => response.end('secret'));
  server.on('connection', () => {
    visits += 1;
  });
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, visits: () => visits };
}

async function run(script: string, ...args: string[]): Promise<FinishedRun & { said: string }> {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const finished = await scriptedRun({ repository, turns: [command(script), done], args });
  return { ...finished, said: JSON.stringify(finished.server.requests[1] ?? {}) };
}

const refusedIn = ({ network }: Pick<FinishedRun['result'], 'network'>) =>
  (network?.hosts ?? []).filter(({ outcome }) => outcome === 'refused');

/** Asks the proxy, as the environment names it, for a tunnel to each of these and prints the status lines. */
const askFor = (...authorities: string[]) =>
  `node -e '
    const { hostname, port } = new URL(process.env.https_proxy);
    for (const to of process.argv.slice(1)) {
      const socket = require("net").connect(port, hostname, () => socket.write(\`CONNECT \${to} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n\`));
      socket.once("data", (d) => { console.log(String(d).split("\\r\\n")[0]); socket.destroy(); });
    }' ${authorities.join(' ')}`;

describe('a run with --allow-domain', () => {
  test('tells the model which domains there are, and journal and result what was allowed and refused', async () => {
    const { result, events, server, said, stderr, exitCode } = await run(
      `${askFor('evil.example:443')}; ${askFor('evil.example:443', '127.0.0.1:443')}`,
      ...domains('Registry.npmjs.org', '*.example.com:8443'),
    );
    expect([exitCode, result.outcome], stderr).toEqual([0, 'no_change']);
    const allowed = ['registry.npmjs.org', '*.example.com:8443'];
    expect(result.network?.allowed).toEqual(allowed);
    const refused = { by: 'command', outcome: 'refused' };
    expect(refusedIn(result)).toEqual([
      {
        ...refused,
        host: 'evil.example',
        times: 2,
        why: 'evil.example is not one of the allowed domains (registry.npmjs.org, *.example.com:8443); to allow it: --allow-domain evil.example',
        allow: '--allow-domain evil.example',
      },
      {
        ...refused,
        host: '127.0.0.1:443',
        times: 1,
        why: '127.0.0.1:443: an address is not a host name',
        allow: null,
      },
    ]);
    expect(events[0]).toMatchObject({ type: 'run.started', allowedDomains: allowed });
    expect(JSON.stringify(server.requests[0])).toContain(
      'no network except `registry.npmjs.org`, `*.example.com:8443` over HTTP',
    );
    expect(said).toContain(
      'HTTP/1.1 403 Refused by the sandbox: evil.example is not one of the allowed domains (registry.npmjs.org, *.example.com:8443)',
    );
    expect(stderr).toContain(
      '[WARN_HOSTS_REFUSED] Commands tried to reach hosts that are not allowed: evil.example (2), 127.0.0.1:443 (1). To allow what they need: --allow-domain evil.example',
    );
    expect(stderr).toContain(
      '[WARN_HOSTS_FORBIDDEN] No flag allows 127.0.0.1:443: an address is not a host name.',
    );
  });

  test('lets no one reach this machine, under no name and address of it', async () => {
    const { port, visits } = await victim();
    const names = [
      'localhost',
      '127.0.0.1',
      '0.0.0.0',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '2130706433',
      '0x7f.1',
      '127.1',
      '0177.0.0.1',
    ];
    const { said, result } = await run(
      askFor(...names.map((name) => `${name}:${port}`), `localhost.localdomain:${port}`),
      ...domains(`localhost.localdomain:${port}`, 'localhost.example'),
    );
    expect(said.match(/403 Refused by the sandbox/g)?.length ?? 0).toBeGreaterThanOrEqual(names.length);
    expect(said).not.toContain('HTTP/1.1 200');
    expect(refusedIn(result).map(({ host }) => host)).toEqual(
      expect.arrayContaining(names.map((name) => `${name}:${port}`)),
    );
    expect(visits()).toBe(0);
  });

  testAtNight('continues through the proxy of the machine, whose login no command sees', async () => {
    const registry = createServer((_request, response) => response.end('a package')).listen(0, '127.0.0.1');
    await once(registry, 'listening');
    onTestFinished(() => void registry.close());
    const { port } = registry.address() as AddressInfo;
    const servers = { 'registry.example.test': `http://127.0.0.1:${port}` };
    const proxy = await startConnectProxy({ servers, login: 'user:a-word-to-keep' });
    onTestFinished(() => proxy.close());
    const repository = await makeRepository({ 'ca.pem': readFileSync(proxy.certificate, 'utf8') });
    const curl =
      'curl -sS --cacert ca.pem https://registry.example.test/; curl -sS https://evil.example.test/';
    const { server, result, stderr } = await scriptedRun({
      repository,
      turns: [command(`${curl}; env; tr '\\0' '\\n' < /proc/1/environ`), done],
      args: domains('registry.example.test'),
      env: { HTTPS_PROXY: `http://user:a-word-to-keep@${proxy.host}` },
    });
    const said = JSON.stringify(server.requests[1] ?? {});
    expect(said, stderr).toContain('a package');
    expect(said).not.toContain('a-word-to-keep');
    expect(said).not.toContain(proxy.host);
    expect(proxy.asked).toEqual(['registry.example.test:443']);
    expect(refusedIn(result).map(({ host }) => host)).toEqual(['evil.example.test']);
  });

  test.each([
    '*',
    'localhost',
    '127.0.0.1',
    'https://registry.npmjs.org',
    'registry.npmjs.org.',
    'bücher.example',
  ])('does not start for %s', async (domain) => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const args = ['run', '--message', 'Do it', ...domains(domain)];
    const { exitCode, stderr } = await runCli(args, { cwd: root, env: { ANTHROPIC_API_KEY: 'x' } });
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^patchsmith: usage_error \(exit 2\) \[ERR_INVALID_VALUE\]: --allow-domain: /);
  });

  test('is replayed with only those of its domains that are permitted again', async () => {
    const { runDir, events } = await run(
      `${askFor('evil.example:443')} > status.txt`,
      ...domains('good.example'),
    );
    expect(events.length).toBeGreaterThan(3);
    const replay = (...args: string[]) =>
      runCli(['replay', runDir, '--repo', checkoutOf(runDir), '--output', 'json', ...args], {
        cwd: temporaryFolder(),
        env: { XDG_STATE_HOME: temporaryFolder() },
      });
    const permitted = await replay(...domains('good.example', 'other.example'));
    expect(permitted.lastLine).toContain('replayed to the same patch, byte for byte');
    expect(JSON.parse(permitted.stdout).network.allowed).toEqual(['good.example']);
    // A recording is no permission: its own list could be anybody's.
    const journal = join(runDir, 'events.jsonl');
    const text = readFileSync(journal, 'utf8').replace('["good.example"]', '["good.example","evil.example"]');
    writeFileSync(journal, text);
    const alone = await replay();
    expect(JSON.parse(alone.stdout).network).toMatchObject({
      allowed: [],
      hosts: [{ host: 'evil.example', outcome: 'refused' }],
    });
    expect(alone.stderr).toContain(
      "[WARN_REPLAY_HOSTS] The recorded run could reach good.example, evil.example, and this replay cannot. Permit it with --allow-domain 'good.example' --allow-domain 'evil.example'.",
    );
    expect(alone.exitCode).toBe(9);
  });

  test('that was killed is resumed with its own domains when they are permitted again, and with no others', async () => {
    const run = await cutRun(
      { 'a.txt': 'a\n' },
      [command('echo one > one.txt'), command(`${askFor('evil.example:443')} > status.txt`), done],
      ['--sandbox', 'required', '--allow-domain', 'good.example'],
    );
    expect(run.result.outcome, run.stderr).toBe('done');
    run.goBackTo(run.events.findIndex(({ type }) => type === 'turn.completed') + 1);
    expect(await run.resume({ today: ['--allow-domain', 'other.example'] })).toMatch(
      /^\[ERR_PERMISSIONS_WIDER\] .* Repeat the flags that you agree to: patchsmith resume /,
    );
    const resumed = await run.resume({
      today: ['--allow-domain', 'good.example', '--allow-domain', 'other.example'],
    });
    if (typeof resumed === 'string') throw new Error(resumed);
    expect(resumed.result.network).toEqual(run.result.network);
    expect(resumed.patch).toContain('+HTTP/1.1 403 Refused by the sandbox: evil.example is not one of');
  });
});

test('a run without --allow-domain reaches nothing, and names the requested hosts and the flag that allows them', async () => {
  const { port, visits } = await victim();
  const { said, result, events, stderr } = await run(
    [
      `(exec 3<>/dev/tcp/127.0.0.1/${port}) 2>&1`,
      'git ls-remote https://registry.example/a',
      'node -e \'fetch("https://looked-up.example").catch((e) => { console.error(e.cause); process.exit(1); })\'',
      'exit 1',
    ].join('; '),
  );
  expect(events[0]).toMatchObject({ allowedDomains: [] });
  expect(said).toContain('Connection refused');
  expect(visits()).toBe(0);
  const allow = '--allow-domain registry.example';
  const why = `registry.example is refused: no host is allowed; to allow it: ${allow}`;
  expect(result.network?.allowed).toEqual([]);
  const refused = { by: 'command', outcome: 'refused' };
  expect(refusedIn(result)).toEqual([
    { ...refused, host: 'registry.example', times: 1, why, allow },
    {
      ...refused,
      host: 'looked-up.example',
      times: 1,
      why: expect.stringContaining('was looked up without the proxy'),
      allow: '--allow-domain looked-up.example',
    },
  ]);
  expect(said).toContain(`Refused by the sandbox: ${why}\\n`);
  expect(said).toContain(
    'Refused by the sandbox: looked-up.example was looked up without the proxy, and there is no name server; for programs that use HTTPS_PROXY: --allow-domain looked-up.example\\n',
  );
  expect(result.denied.map(({ kind, what, calls }) => [kind, what, calls])).toEqual([
    ['network', 'registry.example', ['toolu_0_0']],
    ['network', 'looked-up.example', ['toolu_0_0']],
  ]);
  expect(stderr).toContain(`To allow what they need: ${allow}`);
});

test.each([
  ['', 'and keeps it to itself'],
  ['-v', 'and passes on what it was told'],
])('a setup command that needs the network fails with the flag that allows it %s %s', async (option) => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const plan = join(temporaryFolder(), 'plan.md');
  const tries = ['PIP_RETRIES', 'CARGO_NET_RETRY', 'npm_config_fetch_retries', 'pnpm_config_fetch_retries'];
  const setup = [
    `test ${tries.map((name) => `$${name}`).join('')} = 0000`,
    `curl -sSf ${option} https://registry.example/`,
  ];
  writeFileSync(plan, `---\n${JSON.stringify({ setup })}\n---\nDo it.\n`);
  const { result, stderr } = await scriptedRun({ repository, turns: [done], plan });
  expect([result.outcome, result.root]).toEqual(['usage_error', repository.root]);
  expect(result.reason).toContain(
    'Refused by the sandbox: registry.example is refused: no host is allowed; to allow it: --allow-domain registry.example.',
  );
  expect(refusedIn(result)).toMatchObject([{ host: 'registry.example', times: 1 }]);
  expect(stderr).toContain(
    '[WARN_HOSTS_REFUSED] Commands tried to reach hosts that are not allowed: registry.example (1).',
  );
});

test('a setup command that looks a name up by itself fails with the flag for programs that use the proxy', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const script = `require("dns").lookup("db.example", (e) => { console.error(String(e)); process.exit(1); })`;
  const args = ['--setup', `node -e '${script}'`];
  const { result } = await scriptedRun({ repository, turns: [done], args });
  expect(result.outcome).toBe('usage_error');
  expect(result.reason).toContain(
    'db.example was looked up without the proxy, and there is no name server; for programs that use HTTPS_PROXY: --allow-domain db.example.',
  );
});

test('commands are contained by more than a port without a listener: a busy port is not a way out', async () => {
  const server = createTcpServer().listen(17_128, '127.0.0.1');
  server.on('error', () => {});
  onTestFinished(() => void server.close());
  const { said } = await run(askFor('evil.example:443'), ...domains('good.example'));
  expect(said).toContain('403 Refused by the sandbox: evil.example');
});
