import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DenialLines } from '../../../../src/adapters/sandboxes/command/denial-lines.ts';

function linesIn(...chunks: readonly (string | Uint8Array)[]): string[] {
  const lines = new DenialLines();
  for (const chunk of chunks) lines.write(Buffer.from(chunk as string));
  return lines.lines();
}

const TOUCH = "touch: cannot touch '/usr/ü': Read-only file system";
const CURL = 'curl: (6) Could not resolve host: a.org';

test('a line is found anywhere in a flood, and however it arrives', () => {
  const flood = 'nothing to see, the address resolved\n'.repeat(50_000);
  const printed = Buffer.from(`${flood}${TOUCH}\n${flood}${TOUCH}\n${CURL}`);
  expect(linesIn(printed)).toEqual([TOUCH, CURL]);
  fc.assert(
    fc.property(fc.array(fc.nat(200), { maxLength: 5 }), (cuts) => {
      const ends = [...cuts.sort((a, b) => a - b), undefined];
      const short = Buffer.from(`not found\n${TOUCH}\n${CURL}`);
      const chunks = ends.map((end, at) => short.subarray(ends[at - 1] ?? 0, end));
      expect(linesIn(...chunks)).toEqual([TOUCH, CURL]);
    }),
  );
});

test('what one line says is kept once, and what many say up to a bound', () => {
  const many = Array.from({ length: 100 }, (_, at) => `sh: 1: tool${at}: not found`);
  expect(linesIn(many.join('\n'))).toEqual(many.slice(0, 20));
  expect(linesIn(...many.map((line) => `${line}\n`))).toEqual(many.slice(0, 20));
});

test('a line that is too long to be a message takes no room', () => {
  const long = 'x'.repeat(10_000_000);
  expect(linesIn(long, `${CURL}\n`, `${CURL}\n`)).toEqual([CURL]);
  expect(linesIn(`${long}${CURL}`)).toEqual([]);
});

test('what anybody can print takes no room from what the shell itself says', () => {
  const shell = '/bin/bash: line 1: prettier: command not found';
  const fakes = Array.from({ length: 100 }, (_, at) => `EACCES: permission denied, open 'x${at}'`);
  const twin = 'sh: 1: prettier: not found';
  expect(linesIn([twin, ...fakes, shell].join('\n'))).toEqual([twin, ...fakes.slice(0, 19), shell]);
});

test.each([
  ['slashes', `${' /'.repeat(990)} Read-only file`],
  ['quotes', `${'‘'.repeat(1_900)} Read-only file`],
  ['a word', `Refused by the sandbox: ${'a'.repeat(1_900)}`],
  ['beginnings', `${'cannot touch '.repeat(140)}ermission denied`],
])('lines of %s that look like signs take no longer than others', (_, line) => {
  const chunk = `${line}\n`.repeat(100);
  const begun = process.cpuUsage();
  linesIn(chunk);
  const { user, system } = process.cpuUsage(begun);
  // It was 25 ms for each.
  expect((user + system) / 1_000).toBeLessThan(1_000);
});

test('other lines say nothing', () => {
  expect(linesIn('')).toEqual([]);
  expect(linesIn('1 failed\nsh: 1: eslint: not found in the log\n')).toEqual([]);
});
