import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/domain/conversation/conversation.ts';
import { stateOf } from '../attacks/victim.ts';
import { actionsOf, openRealParts } from '../support/files/real-parts.ts';
import { fuzzRuns } from '../support/setup/sample.ts';

const CASES = fuzzRuns('cases');
const CALLS_A_TURN = 20;

const path = fc.oneof(
  fc.constantFrom(
    'a.txt',
    'src/b.txt',
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    '../outside/x',
    '.git/config',
    'link/x',
    'link',
    'src',
    'a.txt/x',
    '*',
    '\0',
    '-',
    '--pre=x',
    'n/e/w.txt',
  ),
  fc.string({ maxLength: 12, unit: 'binary' }),
);
const garbage = fc.oneof(
  fc.anything({ maxDepth: 2 }),
  path,
  fc.double(),
  fc.integer(),
  fc.constantFrom(1e308, -1, 0, '1', null, [], {}, NaN),
);
const name = fc.constantFrom(
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search',
  'finish',
  'run_command',
  '__proto__',
  'constructor',
  'toString',
  '',
);
const field = fc.constantFrom(
  'path',
  'content',
  'find',
  'replace',
  'all',
  'offset',
  'limit',
  'glob',
  'pattern',
  'status',
  'summary',
  'timeout_seconds',
  'cwd',
  '__proto__',
);

const shaped = fc.oneof(
  fc.record({ path, offset: fc.oneof(fc.integer(), fc.constant(undefined)), limit: fc.integer({ max: 50 }) }),
  fc.record({ path, content: fc.string({ maxLength: 30, unit: 'binary' }) }),
  fc.record({
    path,
    find: fc.string({ maxLength: 4 }),
    replace: fc.string({ maxLength: 4 }),
    all: fc.boolean(),
  }),
  fc.record({ path, glob: path }),
  fc.record({ path }),
  fc.record({ status: fc.constantFrom('done', 'blocked', 'x'), summary: fc.string() }),
);
const input = fc.oneof(
  { weight: 3, arbitrary: shaped },
  { weight: 1, arbitrary: fc.dictionary(field, garbage, { maxKeys: 4 }) },
  { weight: 1, arbitrary: garbage },
);
/** Searches of anything are run as they are, but seldom: each is a process. No command is ever well-formed. */
const callOf = fc.oneof(
  { weight: 60, arbitrary: fc.record({ name, input }) },
  {
    weight: 1,
    arbitrary: fc.record({
      name: fc.constant('search'),
      input: fc.record({ pattern: fc.string({ minLength: 1, maxLength: 8 }), path }),
    }),
  },
);

test('whatever a model sends as a call gets one answer, of bounded length, and nothing outside is touched', async () => {
  const parts = await openRealParts({ 'a.txt': 'a\n', 'src/b.txt': 'b\n' });
  const outside = join(dirname(parts.root), `${parts.root.split('/').at(-1)}-outside`);
  mkdirSync(outside);
  writeFileSync(join(outside, 'x'), 'as it was');
  symlinkSync(outside, join(parts.root, 'link'));
  const git = stateOf(join(parts.root, '.git'));
  let id = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(callOf, { minLength: CALLS_A_TURN, maxLength: CALLS_A_TURN }), async (made) => {
      const calls: ToolCall[] = made.map((one) => {
        id += 1;
        return { ...one, id: `call_${id}` } as ToolCall;
      });
      const outcomes = (await actionsOf(parts, calls)).flatMap((action) =>
        action.type === 'tool.completed' ? [action] : [],
      );
      expect(outcomes.map(({ call }) => call)).toEqual(calls.map((one) => one.id));
      for (const { outcome } of outcomes) {
        expect(outcome).not.toMatchObject({ reason: 'crashed' });
        expect(outcome.text.length).toBeLessThan(4_000);
      }
    }),
    { numRuns: CASES / CALLS_A_TURN },
  );
  expect(stateOf(outside)).toBe('x: 644 as it was');
  expect(stateOf(join(parts.root, '.git'))).toBe(git);
});
