/** MCP servers through the built command. */

import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { processesWith } from '../../support/machine/processes.ts';
import { runCli } from '../../support/runs/cli.ts';

const PAGE = readFileSync('docs/mcp.md', 'utf8').split("## An assistant's tools")[1] ?? '';

/** A block of the example in the page. */
function block(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'ms').exec(PAGE)?.[1];
  if (found === undefined) throw new Error(`The page has no block of ${language}.`);
  return found;
}

test('the example of the page runs as it stands', async () => {
  const { root } = await makeRepository({ 'agenda.mjs': block('js'), 'script.yml': block('yaml') });
  const words = [
    ...block('sh')
      .replaceAll('\\\n', ' ')
      .matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g),
  ].map(([, double, single, plain]) => double ?? single ?? plain ?? '');
  expect(words[0]).toBe('patchsmith');
  const end = await runCli([...words.slice(1), '--run-dir', join(temporaryFolder(), 'run')], { cwd: root });
  expect([end.exitCode, end.stdout], end.stderr).toEqual([
    0,
    expect.stringContaining('+- 09:30 Release meeting\n'),
  ]);
  for (const line of block('text').trim().split('\n')) expect(end.stderr).toContain(line);
  expect(processesWith(join(root, 'agenda.mjs'))).toEqual([]);
});

test('a server of the project file runs in the sandbox; check reaches it, and names a missing one', async () => {
  const { root, write } = await makeRepository({
    'agenda.mjs': block('js'),
    'script.yml': block('yaml'),
    '.patchsmith.yml': 'mcp:\n  agenda:\n    command: node\n    args: [agenda.mjs]\n    required: true\n',
  });
  const args = ['-m', 'Do it', '--provider', 'replay', '--recording', 'script.yml'];
  const run = await runCli(['run', ...args, '--run-dir', join(temporaryFolder(), 'run')], { cwd: root });
  expect(run.exitCode, run.stderr).toBe(0);
  const env = { XDG_STATE_HOME: temporaryFolder() };
  const fine = await runCli(['check', ...args], { cwd: root, env });
  expect(fine.exitCode, fine.stdout + fine.stderr).toBe(0);
  write('agenda.mjs', 'console.error("no agenda today"); process.exit(4);\n');
  const gone = await runCli(['check', ...args], { cwd: root, env });
  expect([gone.exitCode, gone.stdout + gone.stderr]).toEqual([
    2,
    expect.stringContaining('The MCP server agenda is required, but not available'),
  ]);
  expect(gone.stdout + gone.stderr).toContain('no agenda today');
});

test('a key in the address of a server is in nothing that is written', async () => {
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const runDir = join(temporaryFolder(), 'run');
  const server = 'far=http://127.0.0.1:9/?farApiKey=Zx9-4711-secret&page=2';
  const lost = ['--base-url', 'https://127.0.0.1:9', '--outage-wait', '1s'];
  const words = ['run', '-m', 'Do it', ...lost, '--run-dir', runDir, '--mcp', server];
  const end = await runCli(words, { cwd: root, env: { ANTHROPIC_API_KEY: 'sk-ant-x' } });
  const written = ['result.json', 'events.jsonl', 'report.html'].map((name) =>
    readFileSync(join(runDir, name), 'utf8'),
  );
  for (const text of [end.stdout, end.stderr, ...written]) expect(text).not.toContain('4711-secret');
  // The command that continues the run.
  expect(end.stderr).toContain('?farApiKey=***&page=2');
});

test('problems with servers are reported before anything else happens', async () => {
  const { root, write } = await makeRepository({ 'a.txt': 'a\n' });
  const said = async (...args: string[]) => {
    const end = await runCli(['run', '-m', 'Do it', ...args], {
      cwd: root,
      env: { ANTHROPIC_API_KEY: 'sk-ant-x' },
    });
    return [end.exitCode, end.stderr];
  };
  expect(await said('--mcp', 'a')).toEqual([
    2,
    expect.stringContaining('--mcp: expected NAME=COMMAND or NAME=URL'),
  ]);
  expect(await said('--mcp-config', '[[none]].json')).toEqual([
    2,
    expect.stringContaining('--mcp-config [[none]].json: '),
  ]);
  const json = '{"mcpServers":{"a":{"url":"https://a.ex/?k=tok-4711"}}}';
  // A shell takes the quotes off.
  for (const given of [json, json.replaceAll('"', '')])
    expect((await said('--mcp-config', given))[1]).toMatch(/^(?!.*tok-4711).*got JSON: write it to a file/s);
  write('mcp.json', JSON.stringify({ mcpServers: { a: { command: 'b', env: { C: `\${NO_SUCH}` } } } }));
  expect(await said('--mcp-config', 'mcp.json')).toEqual([
    2,
    expect.stringContaining('MCP server a.env.C: the variable NO_SUCH is not set'),
  ]);
});

test('a server that a run writes into the project file is not started by the next one until it is committed', async () => {
  const file = 'mcp:\n  later: { command: sh, args: [-c, "touch started"] }\n';
  const { root, git } = await makeRepository({
    'write.yml': `- calls:\n    - name: write_file\n      input: { path: .patchsmith.yml, content: ${JSON.stringify(file)} }\n- text: Written.\n`,
    'script.yml': '- text: Done.\n',
  });
  const run = (script: string) =>
    runCli(
      [
        ...['run', '-m', 'Do it', '--provider', 'replay', '--recording', script],
        ...['--run-dir', join(temporaryFolder(), 'run')],
      ],
      { cwd: root },
    );
  expect((await run('write.yml')).exitCode).toBe(0);
  expect(readFileSync(join(root, '.patchsmith.yml'), 'utf8')).toBe(file);
  const next = await run('script.yml');
  expect([next.exitCode, next.stderr]).toEqual([2, expect.stringContaining('[ERR_MCP_NOT_COMMITTED]')]);
  expect(existsSync(join(root, 'started'))).toBe(false);
  await git('add', '.patchsmith.yml');
  await git('commit', '--quiet', '--message', 'A server');
  const committed = await run('script.yml');
  expect(committed.stderr).toContain('The MCP server later is not available');
});

test('nor is one outside the sandbox that a run writes into the file which the next one is given', async () => {
  const mark = join(temporaryFolder(), 'started');
  const server = (args: string) =>
    `{"mcpServers":{"a":{"command":"sh","sandbox":false,"args":["-c","${args}"]}}}`;
  const { root, write, git } = await makeRepository({
    'mcp.json': server('true'),
    'script.yml': '- text: Done.\n',
  });
  const run = () =>
    runCli(
      [
        ...[
          'run',
          '-m',
          'Do it',
          '--provider',
          'replay',
          '--recording',
          'script.yml',
          '--mcp-config',
          'mcp.json',
        ],
        ...['--run-dir', join(temporaryFolder(), 'run')],
      ],
      { cwd: root },
    );
  write('mcp.json', server(`touch ${mark}`));
  const next = await run();
  expect([next.exitCode, next.stderr]).toEqual([2, expect.stringContaining('[ERR_MCP_NOT_COMMITTED]')]);
  expect(existsSync(mark)).toBe(false);
  await git('commit', '--quiet', '--all', '--message', 'A server');
  await run();
  expect(existsSync(mark)).toBe(true);
  write('mcp.json', '{"mcpServers":{"a":{"command":"sh","args":["-c","true"]}}}');
  expect((await run()).stderr).toContain('The MCP server a is not available');
});

test('a server is neither read from nor run outside the sandbox from where commands can write', async () => {
  const shared = temporaryFolder();
  const link = join(temporaryFolder(), 'link');
  symlinkSync(shared, link);
  const mark = join(temporaryFolder(), 'started');
  writeFileSync(join(shared, 'server.sh'), `touch ${mark}`);
  const file = (args: string) =>
    JSON.stringify({ mcpServers: { a: { command: 'sh', sandbox: false, args: [args] } } });
  writeFileSync(join(shared, 'mcp.json'), file('/none'));
  const beside = join(temporaryFolder(), 'mcp.json');
  const { root } = await makeRepository({ 'script.yml': '- text: Done.\n' });
  const run = (config: string, mount: string) =>
    runCli(
      [
        ...['run', '-m', 'Do it', '--provider', 'replay', '--recording', 'script.yml', '--mount', mount],
        ...['--mcp-config', config, '--run-dir', join(temporaryFolder(), 'run')],
      ],
      { cwd: root },
    );
  for (const [config, mount] of [
    [join(shared, 'mcp.json'), `${shared}:rw`],
    [join(shared, 'mcp.json'), `${link}:rw`],
    [join(link, 'mcp.json'), `${shared}/:rw`],
  ] as const)
    expect((await run(config, mount)).stderr).toContain(`commands can write to --mount ${mount}`);
  for (const [program, mount] of [
    [join(shared, 'server.sh'), `${link}:rw`],
    [join(link, 'server.sh'), `${shared}:rw`],
  ] as const) {
    writeFileSync(beside, file(program));
    const { exitCode, stderr } = await run(beside, mount);
    expect([exitCode, stderr]).toEqual([
      2,
      expect.stringContaining(`commands can write to it (--mount ${mount})`),
    ]);
  }
  expect(existsSync(mark)).toBe(false);
});

test.each([
  ['on PATH as a link into the work tree', 'served', 'bin/served', '../root/served.sh'],
  [
    'behind a link from elsewhere into the work tree and out again',
    'FOLDER/side/served',
    'side',
    'root/link',
  ],
])('a program is not run outside the sandbox if it is %s', async (_where, program, at, target) => {
  const folder = temporaryFolder();
  const made = await makeRepository({ 'script.yml': '- text: Done.\n' });
  const root = join(folder, 'root');
  renameSync(made.root, root);
  const mark = join(folder, 'mark');
  for (const name of ['root/served.sh', 'elsewhere/served', 'bin/other']) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  }
  symlinkSync('../elsewhere', join(root, 'link'));
  symlinkSync(target, join(folder, at));
  const config = join(folder, 'mcp.json');
  const command = program.replace('FOLDER', folder);
  writeFileSync(config, JSON.stringify({ mcpServers: { a: { command, sandbox: false } } }));
  const script = ['--provider', 'replay', '--recording', 'script.yml', '--run-dir', join(folder, 'run')];
  const { exitCode, stderr } = await runCli(['run', '-m', 'Do it', ...script, '--mcp-config', config], {
    cwd: root,
    env: { PATH: `${folder}/bin:${process.env.PATH}` },
  });
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(`${JSON.stringify(command)} in the work tree`),
  ]);
  expect(existsSync(mark)).toBe(false);
});
