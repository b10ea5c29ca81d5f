import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { whole } from '../../../src/domain/conversation/excerpt.ts';
import { whyFailed } from '../../../src/domain/review/why-failed.ts';

/** What the programs printed about a failure, each below its name and the line that is to be shown; stack traces are shorter. */
const OUTPUTS = readFileSync(new URL('failed-outputs.txt', import.meta.url), 'utf8')
  .split(/^(?====== .+\n===== )/m)
  .map((text) => {
    const [program = '', why = '', ...lines] = text.split('\n');
    return { program: program.slice(6), why: why.slice(6), output: lines.join('\n') };
  });

test.each(OUTPUTS)('says why it failed: $program', ({ why, output }) => {
  expect(whyFailed(whole(output))).toBe(why);
});

test('says the same of coloured output, and of output with other line endings', () => {
  for (const { why, output } of OUTPUTS) {
    const coloured = output.replace(/^.+$/gm, '\u001b[31m$&\u001b[39;49m');
    expect(whyFailed(whole(coloured))).toBe(why);
    expect(whyFailed(whole(output.replaceAll('\n', '\r\n')))).toBe(why);
  }
});

test('says it of the part that is known of a long output, and nothing where no line is known to say it', () => {
  const tail = 'cut\nnot ok 812 - adds\n  ---\n  error: |-\n    expected 3\n  ...\n';
  expect(whyFailed({ head: 'not ok 1 - cut', omitted: 9_000, tail })).toBe('adds: expected 3');
  expect(whyFailed(whole('ok 1 - adds\nnot ok 2 - later # TODO\n'))).toBeNull();
  expect(whyFailed(whole('two\nthree\nfour\n'))).toBeNull();
  expect(whyFailed(whole(''))).toBeNull();
});

test('shows at most 300 characters of it', () => {
  expect(whyFailed(whole(`TypeError: ${'long '.repeat(300)}`))).toHaveLength(300);
});
