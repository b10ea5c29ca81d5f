/** Text of others that was made to keep its readers busy. Processor time is limited, not time, which other processes take as well. */

import { createServer } from 'node:http';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { listening } from '../../support/http/listening.ts';
import { CLI } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';
import { sampled } from '../../support/setup/sample.ts';

/** What ordinary text takes is under two seconds; the square of a megabyte takes minutes. */
const CPU_SECONDS = 20;
const limited = ['sh', '-c', `ulimit -t ${CPU_SECONDS}; exec "$@"`, 'sh'];

const MB = 1_000_000;
const filled = (part: string, characters = MB) => part.repeat(Math.ceil(characters / part.length));
const numbered = (line: (n: number) => string) =>
  Array.from({ length: 60_000 }, (_, n) => line(n)).join('\n');

describe('a plan or a file of the repository:', () => {
  const verify = (script: string) => `---\nverify:\n  - ${JSON.stringify(script)}\n---\nDo it.\n`;
  const plan = ['check', '--plan', 'plan.md'];
  const init = ['init'];

  const TEXTS: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['front matter', 'plan.md', verify(`cat${filled(' <<a')} && b`), plan],
    ['different keys of YAML', 'plan.md', `---\n${numbered((n) => `${n}:`)}\n---\nDo it.\n`, plan],
    ['keys in braces', 'plan.md', `---\n{${filled('a,', 60_000)}}\n---\nDo it.\n`, plan],
    ['here-documents', 'plan.md', verify(`cat${filled(' <<a', 60_000)} && b`), plan],
    ['nested functions', 'plan.md', verify(`${filled('f() { ', 60_000)} & b`), plan],
    ['a list of commands', 'plan.md', verify(filled('[ a ] && b && ', 60_000)), plan],
    ['lists of commands', 'plan.md', verify(filled('a && b\n', 50_000)), plan],
    ['quotes that are not closed', 'plan.md', verify(filled('"$(', 40_000)), plan],
    ['openings of YAML', 'plan.md', `---\nverify: ${filled('[', 60_000)}\n---\nDo it.\n`, plan],
    ['tags and openings of YAML', 'plan.md', `---\nverify: ${filled('![', 60_000)}\n---\nDo it.\n`, plan],
    ['equal keys of YAML', 'plan.md', `---\n${filled('a: 1\n', 60_000)}---\nDo it.\n`, plan],
    [
      'globs',
      'plan.md',
      `---\nallow:\n${filled(`  - "${filled('{a,*', 900)}"\n`, 60_000)}---\nDo it.\n`,
      plan,
    ],
    ['tables of TOML', 'pyproject.toml', filled('[a.b.c]\n'), init],
    ['openings of TOML', 'pyproject.toml', `a = ${filled('[')}`, init],
    ['openings of JSON', 'package.json', filled('['), init],
    ['a script of JSON', 'package.json', JSON.stringify({ scripts: { test: filled('cat <<a ') } }), init],
    ['openings of settings', '.patchsmith.yml', `verify: ${filled('![', 60_000)}`, init],
  ];

  // Each takes a process of its own.
  test.each(sampled(TEXTS, ([, name]) => name))('%s', async (_what, name, text, args) => {
    const { root } = await makeRepository({ [name]: text });
    const [program = '', ...line] = [...limited, process.execPath, CLI, ...args];
    const env = { PATH: process.env.PATH, HOME: root, XDG_STATE_HOME: temporaryFolder() };
    const end = await execa(program, line, { cwd: root, env, extendEnv: false, reject: false });
    // Not a signal, and not ERR_BUG.
    expect([0, 2], end.stderr).toContain(end.exitCode);
  });
});

/** A proxy that answers every request with this page. */
async function serving(page: string): Promise<string> {
  const server = createServer((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(page),
  );
  return `http://127.0.0.1:${await listening(server)}`;
}

/** An MCP server with one tool, whose answer is an audio part of such data. */
const AUDIO = `
  import { createInterface } from 'node:readline';
  const answers = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'a', version: '1' } }),
    'tools/list': () => ({ tools: [{ name: 'hear', description: 'Hears.', inputSchema: { type: 'object' } }] }),
    'tools/call': () => ({ content: [{ type: 'audio', data: '='.repeat(${2 * MB}) + 'a', mimeType: 'audio/wav' }] }),
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }));
  }`;

test('what a run reads and writes: a page, an answer of a server, globs, patterns, edits and differences', async () => {
  const proxy = await serving(JSON.stringify(filled('"', MB - 10)));
  const repository = await makeRepository({
    'lines.txt': numbered((n) => `old ${n % 7}`),
    'repeated.txt': filled('a'),
    'server.mjs': AUDIO,
  });
  const run = await scriptedRun({
    repository,
    built: true,
    wrap: limited,
    args: ['--sandbox', 'off', '--web-fetch', '*', '--mcp', 'own=node server.mjs'],
    env: { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.1' },
    turns: [
      {
        calls: [
          call('web_fetch', { url: 'http://docs.example.test/page.json' }),
          call('own__hear', {}),
          call('list_files', { glob: filled('{a,*', 900) }),
          call('list_files', { glob: `${filled('**/*a', 900)}b` }),
          call('search', { pattern: '(a+)+b' }),
        ],
      },
      { calls: [call('read_file', { path: 'lines.txt' })] },
      {
        calls: [
          call('edit_file', { path: 'repeated.txt', find: `${filled('a', 90_000)}b`, replace: '' }),
          call('run_command', { command: "seq 90000 | sed 's/.*/new & &/' > lines.txt" }),
          call('write_file', { path: 'brackets.md', content: filled('[](') }),
        ],
      },
      { text: filled('*_[](<', 100_000) },
    ],
  });
  expect(run.exitCode, run.stderr).toBe(0);
  const said = run.events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  expect(said[0]).toContain('\\"\\"\\"');
  expect(said[1]).toMatch(/\[audio of [\d,]+ bytes, audio\/wav: not shown\]/);
  expect(run.patch).toContain('+new 90000 90000');
});
