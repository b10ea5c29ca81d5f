import { expect, test } from 'vitest';
import { withOwnNames } from '../../../src/agent/calls/prepared-call.ts';
import { withAliases } from '../../../src/domain/conversation/repeats.ts';
import { createTools, definitionsOf } from '../../../src/tools/registry.ts';
import { call } from '../../support/runs/events.ts';

const all = createTools({ commandTimeoutMs: 1_000, maxCommandTimeoutMs: 1_000 });
const tools = new Map(all.map((tool) => [tool.name, tool]));

test("other tools' names of parameters become ours, and are counted", () => {
  const calls = [
    call('a', 'edit_file', { file_path: 'a.ts', old_string: 'x', new_str: 'y', replace_all: true }),
    call('b', 'read_file', { path: 'a.ts', file_path: 'b.ts' }),
    call('c', 'edit_file', { path: 'a.ts', old_str: 'x', old_string: 'z', replace: 'y' }),
    call('d', 'unknown', { file_path: 'a' }),
    call('e', 'run_command', ['cmd']),
    call('f', 'search', { query: 'x' }),
  ];
  const named = withOwnNames(calls, tools);
  const shown: unknown[] = named.map(({ input, aliases }) => ({ input, aliases }));
  expect(shown).toEqual([
    {
      input: { path: 'a.ts', find: 'x', replace: 'y', all: true },
      aliases: ['file_path', 'old_string', 'new_str', 'replace_all'],
    },
    // Which of two is meant is not for us to say.
    { input: { path: 'a.ts', file_path: 'b.ts' }, aliases: undefined },
    { input: { path: 'a.ts', find: 'x', old_string: 'z', replace: 'y' }, aliases: ['old_str'] },
    { input: { file_path: 'a' }, aliases: undefined },
    { input: ['cmd'], aliases: undefined },
    { input: { pattern: 'x' }, aliases: ['query'] },
  ]);
  expect(withAliases({ 'edit_file.old_str': 2 }, named)).toEqual({
    'edit_file.old_str': 3,
    'edit_file.file_path': 1,
    'edit_file.old_string': 1,
    'edit_file.new_str': 1,
    'edit_file.replace_all': 1,
    'search.query': 1,
  });
});

test('an alias refers to a parameter of its tool, and is not itself a parameter', () => {
  for (const { name, inputSchema } of definitionsOf(all)) {
    const own = Object.keys(inputSchema.properties as object);
    const { aliases = {} } = tools.get(name) ?? {};
    for (const [alias, parameter] of Object.entries(aliases)) {
      expect(own, name).toContain(parameter);
      expect(own, name).not.toContain(alias);
    }
  }
});
