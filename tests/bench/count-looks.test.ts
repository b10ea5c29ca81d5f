import { expect, test } from 'vitest';
import { looksIn } from '../../bench/count-looks.ts';
import type { ToolCall } from '../../src/domain/conversation/conversation.ts';
import { call, started, turn } from '../support/runs/events.ts';

const PROMPT = `Tracked: 9 files. src/ 7; README.md, package.json.
Project: Node.js (npm); test: npm test.
Commands find: git 2.43.0, node 24.1.0, npm.`;
const looks = (...calls: readonly ToolCall[]) =>
  looksIn([
    { ...started, prompt: PROMPT, seq: 1, at: 0 },
    ...calls.map((one, at) => ({ ...turn({ calls: [one] }), seq: at + 2, at: 0 })),
  ]);
const shell = (command: string) => call('c', 'run_command', { command });

test('a look is answered where the first message says all that it would tell', () => {
  const answered = [
    call('c', 'list_files', { path: '.' }),
    call('c', 'search', { pattern: '"test":', path: '.' }),
    ...['ls -la', 'node --version && git --version', 'which npm'].map(shell),
  ];
  expect(looks(...answered)).toEqual({ before: 5, answered: 5 });
  const others = [
    call('c', 'list_files', { path: 'src' }),
    call('c', 'read_file', { path: 'package.json' }),
    ...['ls src', 'node --version; npm --version', 'which go', 'npm test'].map(shell),
  ];
  expect(looks(...others)).toEqual({ before: 6, answered: 0 });
});

test('what comes after the first edit is work', () => {
  const edit = call('c', 'edit_file', { path: 'a' });
  expect(looks(shell('ls'), edit, shell('ls'))).toEqual({ before: 1, answered: 1 });
});
