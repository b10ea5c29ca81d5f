import { describe, expect, test } from 'vitest';
import { readPatchText } from '../../../src/domain/changes/patch-text.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const NONE = '0'.repeat(40);

const patch = (...lines: string[]) => `${lines.join('\n')}\n`;
const hunk = ['@@ -1 +1,2 @@', '-old', '+new', '+more', '\\ No newline at end of file'];

const filesOf = (text: string) => {
  const read = readPatchText(text);
  if (read.status === 'failed') throw new Error(`${read.line}: ${read.why}`);
  return read.files;
};

describe('a patch says of each file', () => {
  test('what it was, what it becomes, and how many lines change', () => {
    const text = patch(
      'diff --git a/x y.txt b/x y.txt',
      `index ${A}..${B} 100644`,
      '--- a/x y.txt\t',
      '+++ b/x y.txt\t',
      ...hunk,
    );
    expect(filesOf(text)).toEqual([
      {
        path: 'x y.txt',
        from: null,
        before: { mode: '100644', blob: A },
        after: { mode: '100644', blob: B },
        additions: 2,
        deletions: 1,
      },
    ]);
  });

  test('its hunks on request, even for a file that becomes a link', () => {
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
    const read = readPatchText(text, { hunks: true });
    expect(read.status === 'ok' && read.files.map(({ hunks }) => hunks)).toEqual([
      [
        { oldStart: 1, oldLines: 2, newStart: 0, newLines: 0, lines: ['-one\r', '---- two'] },
        {
          oldStart: 0,
          oldLines: 0,
          newStart: 1,
          newLines: 1,
          lines: ['+target', '\\ No newline at end of file'],
        },
      ],
      null,
    ]);
  });
});

describe('what patchsmith does not write is refused:', () => {
  const head = ['diff --git a/x b/x', `index ${A}..${B} 100644`, '--- a/x', '+++ b/x'];
  test.each<readonly [string, string]>([
    ['text in front', patch('hello', ...head, ...hunk)],
    ['text between files', patch(...head, ...hunk, 'hello')],
    [
      'a patch of the old kind behind it',
      patch(...head, ...hunk, '--- a/.git/config', '+++ b/.git/config', '@@ -0,0 +1 @@', '+x'),
    ],
    [
      'short ids',
      patch('diff --git a/x b/x', 'index aaaaaaa..bbbbbbb 100644', '--- a/x', '+++ b/x', ...hunk),
    ],
    [
      'two names without a rename',
      patch('diff --git a/x b/y', `index ${A}..${B} 100644`, '--- a/x', '+++ b/y', ...hunk),
    ],
    ['a copy', patch('diff --git a/x b/y', 'similarity index 100%', 'copy from x', 'copy to y')],
    ['a hunk with too few lines', patch(...head, '@@ -1,5 +1,5 @@', ' a')],
    ['a folder', patch('diff --git a/x b/x', 'new file mode 040000', `index ${NONE}..${B}`)],
    [
      'a rename of a file that is made',
      patch(
        'diff --git a/x b/y',
        'new file mode 100644',
        'similarity index 100%',
        'rename from x',
        'rename to y',
      ),
    ],
    ...[`index ${NONE}..${B} 160000`, `index ${A}..${NONE} 160000`, `index ${NONE}..${NONE} 100644`].map(
      (index) =>
        [`no content of a file that is there: ${index}`, patch('diff --git a/x b/x', index)] as const,
    ),
    [
      'a file that is made without an id',
      patch('diff --git a/x b/x', 'new file mode 100644', `index ${NONE}..${NONE}`),
    ],
    ['half a line at the end', `${patch(...head, ...hunk)}diff`],
  ])('%s', (_, text) => {
    expect(readPatchText(text)).toMatchObject({ status: 'failed' });
  });
});
