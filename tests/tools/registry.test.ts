import { expect, test } from 'vitest';
import { BUILT_IN_TOOLS } from '../../src/domain/conversation/tool.ts';
import { createTools, definitionsOf } from '../../src/tools/registry.ts';

const tools = createTools({ commandTimeoutMs: 60_000, maxCommandTimeoutMs: 600_000 });
const definitions = definitionsOf(tools);

test('the model is given these seven tools, with these inputs, and nothing else fits', () => {
  const inputs = Object.fromEntries(
    definitions.map(({ name, inputSchema: { properties, required, additionalProperties } }) => [
      name,
      { all: Object.keys(properties as object), required, additionalProperties },
    ]),
  );
  const strict = (required: string[], optional: string[] = []) => ({
    all: [...required, ...optional],
    required,
    additionalProperties: false,
  });
  expect(inputs).toEqual({
    read_file: strict(['path'], ['offset', 'limit']),
    write_file: strict(['path', 'content']),
    edit_file: strict(['path', 'find', 'replace'], ['all']),
    list_files: strict(['path'], ['glob']),
    search: strict(['pattern'], ['path', 'glob']),
    run_command: strict(['command'], ['timeout_seconds']),
    finish: strict(['status', 'summary']),
  });
});

test('each tool is in the lane that undo and policy know it by', () => {
  const pages = { read: () => Promise.reject(new Error('not read')) };
  const times = { commandTimeoutMs: 1, maxCommandTimeoutMs: 2 };
  const every = createTools({ tools: Object.keys(BUILT_IN_TOOLS), pages, ...times });
  expect(every.map(({ name, lane }) => [name, lane])).toEqual(Object.entries(BUILT_IN_TOOLS));
});

test('unknown fields and wrong types are refused by every tool', () => {
  for (const [at, tool] of tools.entries()) {
    const wanted = definitions[at]?.inputSchema.required as string[];
    const valid = Object.fromEntries(wanted.map((name) => [name, name === 'status' ? 'done' : 'a']));
    expect([tool.name, tool.schema.safeParse(valid).success]).toEqual([tool.name, true]);
    expect(tool.schema.safeParse({ ...valid, cwd: '/' }).success).toBe(false);
    for (const name of Object.keys(valid))
      expect(tool.schema.safeParse({ ...valid, [name]: 7 }).success).toBe(false);
    expect(tool.schema.safeParse('text').success).toBe(false);
  }
});
