import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, scriptedRun } from '../../support/runs/scripted-run.ts';

const SCHEMA = {
  type: 'object',
  properties: { findings: { type: 'array', items: { $ref: '#/$defs/finding' } } },
  required: ['findings'],
  additionalProperties: false,
  $defs: {
    finding: {
      type: 'object',
      properties: { path: { type: 'string' }, line: { type: 'integer', minimum: 1 } },
      required: ['path', 'line'],
    },
  },
};

function schemaFile(schema: unknown): string {
  const file = join(temporaryFolder(), 'answer.json');
  writeFileSync(file, typeof schema === 'string' ? schema : JSON.stringify(schema));
  return file;
}

const finish = (more: Record<string, unknown>) => ({
  calls: [call('finish', { status: 'done', summary: 'Reviewed.', ...more })],
});

test('a read-only run ends with an answer that fits, and can be replayed', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const answer = { findings: [{ path: 'a.txt', line: 1 }] };
  const { exitCode, stderr, result, events, patch, server, runDir } = await scriptedRun({
    repository,
    turns: [
      { calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] },
      { calls: [call('run_command', { command: 'echo new > a.txt; cat a.txt' })] },
      finish({}),
      finish({ answer: { findings: [{ path: 'a.txt', line: 0 }], more: 1 } }),
      { text: 'That is my review.' },
      finish({ answer }),
    ],
    args: ['--read-only', '--output-schema', schemaFile(SCHEMA)],
  });
  expect(exitCode, stderr).toBe(0);
  expect(result.reason).toMatch(/^The model answered without changing a file; denied: /);
  expect([result.outcome, result.answer, patch]).toEqual(['done', answer, '']);

  const shown = server.requests[0]?.body?.tools as { name: string; input_schema: unknown }[];
  expect(shown.map(({ name }) => name)).toEqual([
    'read_file',
    'list_files',
    'search',
    'run_command',
    'finish',
  ]);
  expect(JSON.stringify(shown.at(-1))).toContain('"$ref":"#/properties/answer/$defs/finding"');
  const said = events.flatMap((event) => (event.type === 'tool.completed' ? [event.outcome.text] : []));
  expect(said).toEqual([
    'Unknown tool "write_file". Available tools: read_file, list_files, search, run_command, finish.',
    expect.stringContaining('new\n'),
    expect.stringContaining('the answer is missing'),
    expect.stringMatching(/additional properties \(more\), \/findings\/0\/line must be >= 1\. Call finish/),
    'Work ended.',
  ]);
  const asked = events.flatMap((event) => (event.type === 'message.added' ? [event.text] : []));
  expect(asked).toEqual([expect.stringContaining('call `finish`')]);

  const replayed = await runCli(['replay', runDir], { cwd: repository.root });
  expect(replayed.exitCode, replayed.stderr).toBe(0);
});

test('an answer together with a change, with fewer tools', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const { result, server } = await scriptedRun({
    repository,
    turns: [{ calls: [call('write_file', { path: 'a.txt', content: 'new\n' })] }, finish({ answer: 7 })],
    args: [
      '--tools',
      'write_file, run_command',
      '--no-tools',
      'run_command',
      '--output-schema',
      schemaFile({ $schema: 'http://json-schema.org/draft-07/schema#', type: 'integer' }),
    ],
  });
  expect([result.outcome, result.answer, result.changedFiles.length]).toEqual(['done', 7, 1]);
  const tools = server.requests[0]?.body?.tools as { name: string }[];
  expect(tools.map(({ name }) => name)).toEqual(['write_file', 'finish']);
});

test.each([
  ['{', /answer\.json \(--output-schema\), is not JSON: /],
  ['[]', /must be a JSON object, such as \{"type":"object"\}\.$/],
  [{ $schema: 'https://json-schema.org/draft/2019-09/schema' }, /has a \$schema that is not known: use /],
  [{ type: 'strange' }, /is not a JSON Schema that can be used: schema is invalid/],
  [{ $ref: 'https://example.com/schema.json' }, /can't resolve reference https:\/\/example\.com/],
  [{ $async: true, type: 'integer' }, /has \$async, which is not part of JSON Schema: remove it\.$/],
  [{ $ref: '#' }, /can be used: Maximum call stack size exceeded\.$/],
  [{ type: 'object', not: { $ref: '#' } }, /can be used: Maximum call stack size exceeded\.$/],
])('a schema that is none is a usage error before the model is asked: %j', async (schema, reason) => {
  const repository = await makeRepository({});
  const { result, server } = await scriptedRun({
    repository,
    turns: [],
    args: ['--output-schema', schemaFile(schema)],
  });
  expect([result.outcome, server.requests]).toEqual(['usage_error', []]);
  expect(result.reason).toMatch(reason);
});
