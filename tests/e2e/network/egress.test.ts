/** The result names every host that anything in a run asked for, who asked, and whether it was reached. */

import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository } from '../../support/files/repository.ts';
import { listening } from '../../support/http/listening.ts';
import { startConnectProxy } from '../../support/machine/connect-proxy.ts';
import { call, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';

const SERVER = readFileSync(join(import.meta.dirname, '../../support/mcp/server.mjs'), 'utf8');
const curl = (url: string) => `curl -sS --cacert ca.pem ${url} || true`;
const hostsIn = ({ result }: FinishedRun) =>
  (result.network?.hosts ?? []).map(({ host, by, outcome, times }) => [by, outcome, host, times]).sort();

/** A plain server that answers everything, on loopback. */
async function answering(): Promise<number> {
  const server = createServer((_request, response) =>
    response.writeHead(404, { 'content-type': 'text/plain' }).end('a page'),
  );
  return listening(server);
}

test('commands, web_fetch, MCP servers and the model are told apart, reached and refused', async () => {
  const port = await answering();
  const servers = {
    'packages.example.test': `http://127.0.0.1:${port}`,
    'pages.example.test': `http://127.0.0.1:${port}`,
  };
  const proxy = await startConnectProxy({ servers, login: null });
  onTestFinished(() => proxy.close());
  const repository = await makeRepository({
    'ca.pem': readFileSync(proxy.certificate, 'utf8'),
    'server.mjs': SERVER,
  });
  const run = await scriptedRun({
    repository,
    built: true,
    args: [
      ...['--allow-domain', 'packages.example.test', '--allow-domain', 'gone.example.test'],
      ...['--web-fetch', 'pages.example.test', '--mcp', `docs=http://127.0.0.1:${port}/mcp`],
      ...['--mcp', 'own=node server.mjs'],
      ...['--verify', '! curl -sS https://verify.example.test/'],
    ],
    turns: [
      {
        calls: [
          call('run_command', {
            command: [
              curl('https://packages.example.test/'),
              curl('https://gone.example.test/'),
              curl('https://evil.example.test/'),
              curl('https://93.184.216.34/'),
            ].join('; '),
          }),
        ],
      },
      {
        calls: [
          call('own__run', { command: curl('https://evil.example.test/ https://packages.example.test/') }),
        ],
      },
      {
        calls: [
          call('web_fetch', { url: 'https://pages.example.test/' }),
          call('web_fetch', { url: 'https://evil.example.test/' }),
        ],
      },
      done,
    ],
    env: {
      HTTPS_PROXY: `http://${proxy.host}`,
      NODE_EXTRA_CA_CERTS: proxy.certificate,
    },
  });
  const model = new URL(run.server.url).host;
  expect(hostsIn(run), run.stderr).toEqual(
    [
      ['command', 'failed', 'gone.example.test', 1],
      ['command', 'reached', 'packages.example.test', 1],
      ['command', 'refused', '93.184.216.34:443', 1],
      ['command', 'refused', 'evil.example.test', 1],
      ['command', 'refused', 'verify.example.test', 1],
      ['mcp', 'reached', `127.0.0.1:${port}`, expect.any(Number)],
      ['mcp', 'reached', 'packages.example.test', 1],
      ['mcp', 'refused', 'evil.example.test', 1],
      ['provider', 'reached', model, 4],
      ['web_fetch', 'reached', 'pages.example.test', 1],
      ['web_fetch', 'refused', 'evil.example.test', 1],
    ].sort(),
  );
  expect(run.result.network?.allowed).toEqual(['packages.example.test', 'gone.example.test']);
  const recorded = run.events.flatMap((event) => (event.type === 'network.used' ? event.hosts : []));
  const provider = recorded.filter(({ by }) => by === 'provider');
  expect(provider.reduce((sum, { times }) => sum + times, 0)).toBe(4);
});

test('without a sandbox the hosts of commands are unknown, and those of the model are named', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const run = await scriptedRun({ repository, args: ['--sandbox', 'off'], turns: [done] });
  expect(run.result.network, run.stderr).toEqual({
    allowed: null,
    hosts: [
      {
        host: new URL(run.server.url).host,
        ...{ by: 'provider', outcome: 'reached', times: 1, why: '', allow: null },
      },
    ],
  });
});

testAtNight(
  'hosts of redirections that are not followed, and of requests that no proxy understands, are named too',
  async () => {
    const moving = createServer((_request, response) =>
      response.writeHead(302, { location: 'http://moved.example.test/' }).end(),
    );
    const port = await listening(moving);
    const servers = { 'pages.example.test': `http://127.0.0.1:${port}` };
    const proxy = await startConnectProxy({ servers, login: null });
    onTestFinished(() => proxy.close());
    const repository = await makeRepository({ 'a.txt': 'a\n' });
    const plain = ['https://as-axios.example.test/', 'http://UPPER.example.test./'];
    const requests = [
      ...plain.map((url) => `curl -sS --proxy "$HTTPS_PROXY" --request-target ${url} http://x/`),
      'curl -sS -X CONNECT -d body --proxy "$HTTPS_PROXY" --request-target body.example.test:443 http://x/',
      'curl -sS https://[2001:db8::1]/ || true',
      'for i in $(seq 150); do curl -s http://h$i.example.test/; done',
    ];
    const run = await scriptedRun({
      repository,
      built: true,
      args: ['--web-fetch', '*', '--allow-domain', 'packages.example.test'],
      turns: [
        { calls: [call('web_fetch', { url: 'https://pages.example.test/' })] },
        ...requests.map((command) => ({ calls: [call('run_command', { command })] })),
        done,
      ],
      env: { HTTPS_PROXY: `http://${proxy.host}`, NODE_EXTRA_CA_CERTS: proxy.certificate },
    });
    const hosts = hostsIn(run);
    expect(hosts, run.stderr).toEqual(
      expect.arrayContaining([
        ['web_fetch', 'reached', 'pages.example.test', 1],
        ['web_fetch', 'refused', 'moved.example.test', 1],
        ['command', 'refused', 'as-axios.example.test', 1],
        ['command', 'refused', 'body.example.test:443', 1],
        ['command', 'refused', 'UPPER.example.test.', 1],
        ['command', 'refused', '[2001:db8::1]:443', 1],
        ['command', 'refused', 'other hosts', expect.any(Number)],
      ]),
    );
    expect(hosts.filter(([by]) => by === 'command')).toHaveLength(101);
  },
);
