import { expect, test } from 'vitest';
import { readPatchText } from '../../../src/domain/changes/patch-text.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const NONE = '0'.repeat(40);

const patch = (...lines: string[]) => `${lines.join('\n')}\n`;

test('a patch has the hunks of each file, those of a file that becomes a link together, and none of a binary one', () => {
  const text = patch(
    'diff --git a/x b/x',
    'deleted file mode 100644',
    `index ${A}..${NONE}`,
    '--- a/x',
    '+++ /dev/null',
    '@@ -1,2 +0,0 @@ head',
    '-one\r',
    '---- two',
    'diff --git a/x b/x',
    'new file mode 120000',
    `index ${NONE}..${B}`,
    '--- /dev/null',
    '+++ b/x',
    '@@ -0,0 +1 @@',
    '+target',
    '\\ No newline at end of file',
    'diff --git a/y b/y',
    `index ${A}..${B} 100644`,
    'GIT binary patch',
    'literal 1',
    'IcmZPo000310RR91',
    '',
    'literal 0',
    'HcmV?d00001',
    '',
  );
  expect(readPatchText(text)).toEqual([
    {
      path: 'x',
      hunks: [
        { oldStart: 1, oldLines: 2, newStart: 0, newLines: 0, lines: ['-one\r', '---- two'] },
        {
          ...{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 1 },
          lines: ['+target', '\\ No newline at end of file'],
        },
      ],
    },
    { path: 'y', hunks: null },
  ]);
});

test('lines of a content that look like the parts of a patch are content', () => {
  const lines = ['+diff --git a/z b/z', '+@@ -1 +1 @@', '-GIT binary patch', ' \rdiff --git a/z b/z'];
  const text = patch('diff --git a/x b/x', `index ${A}..${B} 100644`, '@@ -1,2 +1,3 @@', ...lines);
  expect(readPatchText(text)).toEqual([
    { path: 'x', hunks: [{ oldStart: 1, oldLines: 2, newStart: 1, newLines: 3, lines }] },
  ]);
});

test('files are called by their new names, also those with quotes, blanks and bytes', () => {
  const name = '"a/n\\303\\244\\"\\n\\\\" "b/n\\303\\244\\"\\n\\\\"';
  const text = patch(
    ...[`diff --git ${name}`, 'old mode 100644', 'new mode 100755'],
    ...['diff --git a/old b/new', 'similarity index 100%', 'rename from old', 'rename to new'],
    ...['diff --git a/x y.txt b/x y.txt', 'deleted file mode 100644'],
  );
  expect(readPatchText(text).map(({ path }) => path)).toEqual(['n\xc3\xa4"\n\\', 'new', 'x y.txt']);
});
