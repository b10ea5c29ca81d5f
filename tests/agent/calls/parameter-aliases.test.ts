import { expect, test } from 'vitest';
import { withOwnNames } from '../../../src/agent/calls/prepared-call.ts';
import { createTools, definitionsOf } from '../../../src/tools/registry.ts';
import { call } from '../../support/runs/events.ts';

const all = createTools({ commandTimeoutMs: 1_000, maxCommandTimeoutMs: 1_000 });
const tools = new Map(all.map((tool) => [tool.name, tool]));

test("other tools' names of parameters become ours", () => {
  const calls = [
    call('a', 'edit_file', { file_path: 'a.ts', old_string: 'x', new_str: 'y', replace_all: true }),
    call('b', 'read_file', { path: 'a.ts', file_path: 'b.ts' }),
    call('c', 'edit_file', { path: 'a.ts', old_str: 'x', old_string: 'z', replace: 'y' }),
    call('d', 'unknown', { file_path: 'a' }),
    call('e', 'run_command', ['cmd']),
    call('f', 'search', { query: 'x' }),
  ];
  const named = withOwnNames(calls, tools);
  expect(named.map(({ input }) => input)).toEqual([
    { path: 'a.ts', find: 'x', replace: 'y', all: true },
    // Which of two is meant is not for us to say.
    { path: 'a.ts', file_path: 'b.ts' },
    { path: 'a.ts', find: 'x', old_string: 'z', replace: 'y' },
    { file_path: 'a' },
    ['cmd'],
    { pattern: 'x' },
  ]);
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
