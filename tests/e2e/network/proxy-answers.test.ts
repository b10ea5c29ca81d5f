/** Answers other than a page on the way through a proxy: they are for the model, which has to understand them. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

/** Answers as the address of the request says (`/404`, `/404/empty`), and refuses every tunnel with 403. */
async function startProxy(): Promise<string> {
  const proxy = createServer((request, response) => {
    const [, status = '', isEmpty] = /\/(\d{3})(\/empty)?$/.exec(request.url ?? '') ?? [];
    response.writeHead(Number(status || 404), { 'content-type': 'text/html' });
    response.end(isEmpty === undefined ? '<p>from the server</p>' : undefined);
  });
  proxy.on('connect', (request, socket) => {
    const status = /^refused/.test(request.url ?? '') ? '403 Forbidden' : '407 Proxy Authentication Required';
    socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

async function deadAddress(): Promise<string> {
  const server = createTcpServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

async function fetchThrough(proxy: string, urls: readonly string[]): Promise<string[]> {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const { events } = await scriptedRun({
    repository,
    built: true,
    turns: [{ calls: urls.map((url) => call('web_fetch', { url })) }, { text: 'Done.' }],
    args: ['--web-fetch', '*', '--sandbox', 'off'],
    env: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy },
  });
  return events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
}

testAtNight('the model reads which status a page has, or why the proxy does not lead there', async () => {
  const proxy = await startProxy();
  const statuses = ['302', '304', '400', '401', '403', '404', '429', '500', '503'];
  const bodiless = ['302/empty', '304/empty', '503/empty'];
  const at = (path: string) => `http://docs.example.test/${path}`;
  const tunnels = ['https://refused.example.test/', 'https://login.example.test/'];
  const answers = await fetchThrough(proxy, [...[...statuses, ...bodiless, '407'].map(at), ...tunnels]);
  const said = (path: string) => `"${at(path)}" answered ${path.slice(0, 3)} `;
  for (const [nth, path] of [...statuses, ...bodiless].entries())
    expect(answers[nth]).toContain(path === '304' ? 'answered 304' : said(path));
  expect(answers.slice(0, statuses.length).filter((text) => text.includes('from the server'))).toHaveLength(
    statuses.length - 1,
  );
  expect(answers.join('\n')).not.toMatch(/undefined/);

  expect(answers.slice(-3)).toEqual([
    'Not read: Proxy Authentication Required (407)',
    expect.stringMatching(/^Not read: .*\(403\)/),
    expect.stringMatching(/^Not read: .*\(407\)/),
  ]);
  const dead = await fetchThrough(await deadAddress(), [at('200'), 'https://docs.example.test/']);
  expect(dead).toEqual(Array(2).fill(expect.stringMatching(/^Not read: connect ECONNREFUSED /)));
});

const PROVIDERS = [
  ['anthropic', 'ANTHROPIC_API_KEY', 'claude-sonnet-5-5'],
  ['openai', 'OPENAI_API_KEY', 'gpt-5.4'],
  ['gemini', 'GEMINI_API_KEY', 'gemini-flash-latest'],
] as const;

test.each(sampled(PROVIDERS, () => 'provider'))(
  'a 404 for a request to %s by way of it is the reason of the end',
  async (provider, variable, model) => {
    const { root } = await makeRepository({ 'a.txt': 'a\n' });
    const { exitCode, stdout, stderr } = await runCli(
      [
        ...[
          'run',
          '-m',
          'x',
          '--sandbox',
          'off',
          '--output',
          'json',
          '--run-dir',
          join(temporaryFolder(), 'run'),
        ],
        ...['--provider', provider, '--model', model],
        ...['--base-url', 'http://model.example.test', '--allow-insecure-base-url'],
      ],
      {
        cwd: root,
        built: true,
        env: { HTTP_PROXY: await startProxy(), [variable]: 'sk-ant-0123456789abcdef' },
      },
    );
    expect([exitCode, JSON.parse(stdout).errorCode], stderr).toEqual([4, 'ERR_PROVIDER_NOT_FOUND']);
    expect(JSON.parse(stdout).reason).toMatch(/^404.*from the server/);
  },
);
