import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { editFileTool } from '../../src/tools/edit-file.ts';
import { readFileTool } from '../../src/tools/read-file.ts';
import { findMatches, replaceMatches } from '../../src/tools/text.ts';
import { writeFileTool } from '../../src/tools/write-file.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

const edit = (find: string, replace: string, more: object = {}) =>
  workspace.call(editFileTool, { path: 'file', find, replace, ...more });
const onDisk = () => readFileSync(join(workspace.root, 'file'));

/** Puts a text, edits it, and gives what is there then; the report when nothing was edited. */
async function edited(text: string, find: string, replace: string, more: object = {}): Promise<string> {
  workspace.put('file', text);
  const result = await edit(find, replace, more);
  return result.status === 'ok' ? onDisk().toString('utf8') : `${result.reason}: ${result.text}`;
}

describe('only the matched bytes change', () => {
  test('for any text with any line endings', () => {
    const line = fc.tuple(fc.constantFrom('a', 'b', '', 'ab', '\r'), fc.constantFrom('\n', '\r\n'));
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('a', 'a\nb', '\n', 'b\r\n', 'b\n\n'), (lines, find) => {
        const text = lines.flat().join('');
        for (const match of findMatches(text, find, 1_000)) {
          const found = text.slice(match.start, match.end);
          expect(found.replaceAll('\r\n', '\n')).toBe(find.replaceAll('\r\n', '\n'));
          expect(replaceMatches(text, [match], find.replaceAll('\r\n', '\n'))).toBe(text);
          // A match never begins between the two characters of a line end when it could hold both.
          if (found.startsWith('\n') && !find.includes('\r')) expect(text[match.start - 1]).not.toBe('\r');
        }
      }),
    );
  });
});

test('every match is found, as a search from each place would find it', () => {
  const texts = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 40 });
  const finds = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(texts, finds, (text, find) => {
      const starts = [...text].flatMap((_, at) => (text.startsWith(find, at) ? [at] : []));
      expect(findMatches(text, find, 1_000)).toEqual(
        starts.map((start) => ({ start, end: start + find.length })),
      );
    }),
  );
});

test('texts that repeat themselves are searched in time linear in both', () => {
  const [text, half] = ['a'.repeat(1_000_000), 'a'.repeat(100_000)];
  expect(findMatches(text, `${half}b${half}`, 100_001)).toEqual([]);
  expect(findMatches(text, half, 100_001)).toHaveLength(100_001);
});

test('an edit that would make a file larger than any tool reads is refused before it is made', async () => {
  expect(await edited('a'.repeat(50_000), 'a', 'x'.repeat(10_000), { all: true })).toBe(
    'too_large: Not edited: "file" would have 500,000,000 characters.',
  );
});

describe('exactly one match is wanted', () => {
  test('more are refused with their lines', async () => {
    expect(await edited('x\ny\nx x\n', 'x', 'z')).toBe(
      'no_match: Not edited: find occurs 3 times in "file", at lines 1, 3, 3. Add text around it until it is unique, or set all.',
    );
    expect(onDisk().toString()).toBe('x\ny\nx x\n');
  });

  test('unless all are requested', async () => {
    expect(await edited('x\r\nyx\n', 'x', 'z', { all: true })).toBe('z\r\nyz\n');
    expect(await edited('aaaa', 'aa', 'b', { all: true })).toBe('bb');
  });

  test('many places are counted, and the first are named', async () => {
    workspace.put('file', 'x\n'.repeat(1_500));
    expect(await edit('x', 'y', { all: true })).toEqual({
      status: 'ok',
      text: 'Edited "file": at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 1,490 more.',
    });
  });
});

describe('no match', () => {
  test('shows the lines that differ in white space only', async () => {
    const text = 'function a() {\n\treturn compute(1);\n}\n\nfunction b() {\n\treturn compute(2);\n}\n';
    expect(await edited(text, 'function b() {\n    return compute(2);\n}', 'x')).toBe(
      'no_match: Not edited: find does not match in "file" (7 lines). The nearest lines are:\n5: function b() {\n6: \treturn compute(2);\n7: }',
    );
  });

  test('says that the lines are others', async () => {
    expect(await edited('alpha\n', 'zzzz', 'x')).toBe(
      'no_match: Not edited: find does not match in "file" (1 lines). Its lines differ from those of the file: read it again.',
    );
    expect(await edited('', 'zzzz', 'x')).toMatch(/^no_match: /);
  });

  test('stays short and quick in a large file of long lines', async () => {
    workspace.put('file', `${'lorem ipsum dolor '.repeat(50)}\n`.repeat(1_000));
    const result = await edit(`${'lorem ipsum dolor sit '.repeat(50)}\n`.repeat(100), 'x');
    expect(result).toMatchObject({ status: 'failed', reason: 'no_match' });
    expect(result.text.length).toBeLessThan(4_000);
  });
});

describe('refused', () => {
  test('empty find, unknown fields and half a surrogate pair, by the schema', () => {
    const valid = { path: 'a', find: 'x', replace: '' };
    const accepted = (more: object) => editFileTool.schema.safeParse({ ...valid, ...more }).success;
    expect([
      accepted({}),
      accepted({ find: '' }),
      accepted({ count: 1 }),
      accepted({ replace: '\udc00' }),
    ]).toEqual([true, false, false, false]);
  });

  test('text in other encodings and binary files keep their bytes', async () => {
    const bytes = Buffer.from('caf\xe9 one\n', 'latin1');
    workspace.put('file', bytes);
    expect(await edit('one', 'two')).toMatchObject({
      reason: 'not_text',
      text: expect.stringMatching(/^Not edited: "file" is Latin-1 or other non-UTF-8 text/),
    });
    expect(onDisk()).toEqual(bytes);
    workspace.put('file', 'one\0');
    expect(await edit('one', 'two')).toMatchObject({ reason: 'not_text' });
  });
});

test('a file that was seen in part is still seen in part after an edit, and one seen whole still whole', async () => {
  const replaceWhole = () => workspace.call(writeFileTool, { path: 'file', content: 'new' });
  workspace.put('file', 'one\ntwo\nthree\n');
  await workspace.call(readFileTool(), { path: 'file', limit: 1 });
  expect(await edit('one', '1')).toMatchObject({ status: 'ok' });
  expect(await replaceWhole()).toMatchObject({ reason: 'conflict' });
  await workspace.call(readFileTool(), { path: 'file' });
  expect(await edit('1', 'one')).toMatchObject({ status: 'ok' });
  expect(await replaceWhole()).toMatchObject({ status: 'ok' });
});
