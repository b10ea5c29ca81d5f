/** MCP servers in settings and in the file of --mcp-config. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { resolveSettings, type SettingInputs } from '../../src/config/resolve.ts';
import { readServerFile, serversIn } from '../../src/config/server-file.ts';
import { filledIn, ServerEntries } from '../../src/domain/mcp/server-spec.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';

const none = { flags: {}, env: {}, file: null };
const common = {
  isRequired: false,
  isDisabled: false,
  tools: { allow: null, deny: [] },
  callMs: 60_000,
  connectMs: 30_000,
};

function inProject(mcp: unknown) {
  return serversOf({ ...none, file: { values: { mcp }, lines: { mcp: 2 } } });
}

function serversOf(given: SettingInputs) {
  const resolved = resolveSettings(given);
  return resolved.status === 'ok' ? serversIn(resolved.settings.mcp, resolved.sources.mcp) : resolved;
}

describe('the setting', () => {
  test('takes commands and addresses by name, words in quotes, one a line in a variable', () => {
    const servers = {
      files: {
        ...common,
        by: 'stdio',
        command: 'npx',
        args: ['server', 'a b', 'c"d'],
        env: {},
        isContained: true,
      },
      there: { ...common, by: 'http', url: 'https://mcp.example/x?y=z', headers: {} },
    };
    const written = [`files=npx server "a b" 'c"d'`, 'there=https://mcp.example/x?y=z'];
    expect(serversOf({ ...none, flags: { mcp: written } })).toMatchObject({ servers });
    expect(serversOf({ ...none, env: { PATCHSMITH_MCP: written.join('\n') } })).toMatchObject({ servers });
  });

  test.each([
    ['files', 'expected NAME=COMMAND or NAME=URL'],
    ['files=', 'expected NAME=COMMAND or NAME=URL'],
    ['a__b=run', 'expected a name of letters'],
    ['a_=run', 'expected a name of letters'],
    ['a=-run', 'expected the name or the path of a program'],
    ['a=http://mcp.example/', 'expected an https address'],
    ['a=https://user:word@mcp.example/', 'expected an https address'],
    [`a=run \${TOKEN}`, 'variables are only expanded in env and headers'],
  ])('refuses %j', (text, why) => {
    const resolved = serversOf({ ...none, flags: { mcp: [text] } });
    expect(resolved).toMatchObject({
      status: 'failed',
      problems: [{ message: expect.stringContaining(why) }],
    });
  });
});

describe('a project file', () => {
  test('may name servers that run in the sandbox', () => {
    expect(
      inProject({ a: { command: 'run', env: { LEVEL: 'debug' }, tools: { deny: ['x'] } } }),
    ).toMatchObject({
      servers: { a: { by: 'stdio', isContained: true, tools: { allow: null, deny: ['x'] } } },
    });
  });

  test.each([
    [{ command: 'run', sandbox: false }, 'may not start a server outside the sandbox'],
    [{ url: 'https://mcp.example' }, 'may not name a server with a url'],
    [{ command: 'run', env: { A: `\${B}` } }, 'may not give a server environment variables'],
  ])('may not: %j', (server, why) => {
    expect(inProject({ a: server })).toEqual({
      status: 'failed',
      problems: [
        {
          code: 'ERR_MCP_SETTINGS',
          message: `.patchsmith.yml:2: mcp.a: a project file ${why}; use --mcp-config`,
        },
      ],
    });
  });

  test.each([
    [{}, 'either a command or a url'],
    [{ command: 'a', url: 'https://b.example' }, 'either a command or a url'],
    [{ command: 'a', headers: { b: 'c' } }, 'headers require a url'],
    [{ url: 'https://b.example', args: ['c'] }, 'require a command'],
    [{ command: 'a', type: 'http' }, 'of type stdio'],
    [{ command: 'a', type: 'sse' }, 'type'],
    [{ command: 'a', timeout: 3 }, 'timeout'],
    [{ command: 'a', timeout_seconds: 0 }, 'timeout_seconds'],
  ])('is told what is wrong with %j', (server, why) => {
    expect(inProject({ a: server })).toMatchObject({ problems: [{ message: expect.stringContaining(why) }] });
  });
});

describe('the file of --mcp-config', () => {
  const servers = { a: { command: 'run', args: ['x'], required: true } };
  const read = (text: string, more: Partial<Parameters<typeof readServerFile>[0]> = {}) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'mcp.json'), text);
    return readServerFile({ path: 'mcp.json', cwd, root: null, revision: null, ...more });
  };

  test('is JSON or YAML, as other clients have it', async () => {
    const wanted = { status: 'ok', servers: { a: { command: 'run', args: ['x'], isRequired: true } } };
    expect(await read(JSON.stringify({ mcpServers: servers, inputs: [] }))).toMatchObject(wanted);
    expect(await read('mcp:\n  a:\n    command: run\n    args: [x]\n    required: true\n')).toMatchObject(
      wanted,
    );
  });

  test.each([
    ['{"mcpServers": ', 'line 1'],
    ['[]', 'line 1: not a mapping of keys to values (name: value)'],
    ['{}', 'has no mcpServers'],
    ['{"mcpServers":{"a":{}}}', 'a: expected either a command or a url'],
  ])('%j is refused', async (text, why) => {
    expect(await read(text)).toMatchObject({
      problems: [{ code: 'ERR_MCP_FILE', message: expect.stringContaining(`--mcp-config mcp.json: ${why}`) }],
    });
  });

  test('is read from the commit whose rules apply, if it is in the repository', async () => {
    const { root } = await makeRepository({
      'mcp.json': JSON.stringify({ mcpServers: { b: { command: 'evil' } } }),
    });
    const revision = (text: string | null) => ({
      commit: '0'.repeat(40),
      read: async () => (text === null ? null : Buffer.from(text)),
    });
    const place = { path: 'mcp.json', cwd: root, root };
    const committed = JSON.stringify({ mcpServers: servers });
    expect(await readServerFile({ ...place, revision: revision(committed) })).toMatchObject({
      servers: { a: { command: 'run' } },
    });
    expect(await readServerFile({ ...place, revision: revision(null) })).toMatchObject({
      problems: [{ message: expect.stringContaining('the commit whose rules apply') }],
    });
    // What a run may have changed does not say what is started outside of its sandbox.
    expect(await readServerFile({ ...place, revision: null, isWorkedIn: true })).toMatchObject({
      problems: [
        { message: expect.stringContaining('is in the work tree, where the run may have changed it') },
      ],
    });
    expect(await readServerFile({ ...place, revision: null })).toMatchObject({ status: 'ok' });
  });
});

describe('variables', () => {
  const entries = (env: object, headers: object) =>
    ServerEntries.parse({
      a: { command: 'run', env },
      b: { url: 'https://b.example', headers },
      c: { command: 'x', disabled: true },
    });

  test('are filled in, and what comes from them is secret, as every header is', () => {
    const given = entries(
      { PART: `v-\${ONE}`, LEVEL: 'debug', API_KEY: 'written-down' },
      { Authorization: `Bearer \${TWO}` },
    );
    expect(filledIn(given, { ONE: 'first-value', TWO: 'second-value' })).toMatchObject({
      servers: {
        a: {
          env: { PART: 'v-first-value', LEVEL: 'debug', API_KEY: 'written-down' },
          secrets: ['first-value', 'written-down'],
        },
        b: {
          headers: { Authorization: 'Bearer second-value' },
          secrets: expect.arrayContaining(['second-value', 'Bearer second-value']),
        },
      },
    });
    const filled = filledIn(given, { ONE: 'first-value', TWO: 'second-value' });
    expect(filled.status === 'ok' && Object.keys(filled.servers)).toEqual(['a', 'b']);
  });

  test.each([
    [{ A: `\${NONE}` }, {}, 'a.env.A: the variable NONE is not set'],
    [{ A: `\${A_TOKEN}` }, {}, 'a.env.A: the variable A_TOKEN has fewer than 8 characters'],
    [{ A: `\${no-name}` }, {}, `a.env.A: expected \${NAME}, the name of a variable`],
    [{}, { X: `\${LINES}` }, 'b.headers.X: a header has no line breaks'],
  ])('are named when they cannot be: %j %j', (env, headers, why) => {
    const filled = filledIn(entries(env, headers), { A_TOKEN: 'short', LINES: 'one\ntwo' });
    expect(filled).toMatchObject({ status: 'failed', problems: [expect.stringContaining(why)] });
  });
});
