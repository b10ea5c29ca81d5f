import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSettingsFile } from '../../src/config/settings-file.ts';
import { openRevision } from '../../src/git/revision.ts';
import { makeRepository } from '../support/files/repository.ts';
import { makePipe, tempFolder } from '../support/files/temp-folder.ts';

const NAME = '.patchsmith.yml';

/** Reads the project file of a repository that has this one. */
const read = (content: string | Uint8Array) =>
  readSettingsFile(tempFolder({ '.git/HEAD': '', [NAME]: content }), NAME);

test('the file in the root of the repository is read from anywhere inside, with the lines of its keys', async () => {
  const root = tempFolder({
    '.git/HEAD': '',
    [NAME]:
      '# project\nmodel: claude-opus-5-5\nmax-iterations: 10\n\nverify:\n  - npm test\nprice: {input: 1}\n',
    [`a/${NAME}`]: 'model: other',
    'a/b/x': '',
  });
  const expected = {
    status: 'ok',
    file: {
      values: { model: 'claude-opus-5-5', 'max-iterations': 10, verify: ['npm test'], price: { input: 1 } },
      lines: { model: 2, 'max-iterations': 3, verify: 5, price: 7 },
    },
  };
  expect(await readSettingsFile(root, NAME)).toEqual(expected);
  expect(await readSettingsFile(join(root, 'a/b'), NAME)).toEqual(expected);
});

test('a file with the other extension is reported rather than ignored, even next to the right one', async () => {
  const misnamed = {
    status: 'failed',
    problems: [
      {
        code: 'ERR_PROJECT_FILE_MISNAMED',
        message: `.patchsmith.yaml: is not read; its name must be ${NAME}`,
      },
    ],
  };
  const root = tempFolder({ '.git/HEAD': '', '.patchsmith.yaml': 'protect: [src]' });
  expect(await readSettingsFile(root, NAME)).toEqual(misnamed);
  const both = tempFolder({ '.git/HEAD': '', '.patchsmith.yaml': 'x: 1', [NAME]: 'model: a' });
  expect(await readSettingsFile(both, NAME)).toEqual(misnamed);
  const { root: committed } = await makeRepository({ '.patchsmith.yaml': 'protect: [src]' });
  const revision = await openRevision(committed, 'HEAD', {});
  expect(revision && (await readSettingsFile(revision, NAME))).toEqual(misnamed);
});

test('a linked worktree has its own file', async () => {
  const root = tempFolder({
    '.git/HEAD': '',
    [NAME]: 'model: a',
    'w/.git': 'gitdir: x',
    [`w/${NAME}`]: 'model: b',
  });
  expect(await readSettingsFile(join(root, 'w'), NAME)).toEqual({
    status: 'ok',
    file: { values: { model: 'b' }, lines: { model: 1 } },
  });
});

describe('it is refused', () => {
  test.each<[string, string | Uint8Array, string[]]>([
    ['as a list', '- model', [`${NAME}:1: not a mapping of keys to values (name: value)`]],
    ['as prose', 'hello', [`${NAME}:1: not a mapping of keys to values (name: value)`]],
    ['with a key twice', 'model: a\nmodel: b\n', [`${NAME}:2: not valid YAML: Map keys must be unique`]],
    [
      'with aliases, which can stand for gigabytes',
      'a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n',
      ['*a', '*b'].map(
        (alias, at) =>
          `${NAME}:${at + 2}: aliases (*name) are not allowed; if a text begins with *, put it in quotes: "${alias}"`,
      ),
    ],
    ['with keys that are no text', '1: a', [`${NAME}:1: every key must be text, such as verify`]],
    ['when it is not UTF-8', new Uint8Array([0xff, 0xfe]), [`${NAME}: is not UTF-8 text`]],
    ['when it is huge', 'x'.repeat(65_537), [`${NAME}: is larger than 65,536 bytes`]],
  ])('%s', async (_, content, problems) => {
    expect(await read(content)).toEqual({
      status: 'failed',
      problems: problems.map((message) => ({
        code: /not UTF-8|larger than/.test(message)
          ? 'ERR_PROJECT_FILE_UNREADABLE'
          : 'ERR_PROJECT_FILE_INVALID',
        message,
      })),
    });
  });

  test('as a link, wherever it leads', async () => {
    const root = tempFolder({ '.git/HEAD': '', 'real.yml': 'model: x' });
    symlinkSync('real.yml', join(root, NAME));
    expect(await readSettingsFile(root, NAME)).toEqual({
      status: 'failed',
      problems: [
        {
          code: 'ERR_PROJECT_FILE_UNREADABLE',
          message: `${NAME}: is a link, and links are not followed here`,
        },
      ],
    });
  });

  test('as a pipe, without waiting for it', async () => {
    const root = tempFolder({ '.git/HEAD': '' });
    makePipe(join(root, NAME));
    expect(await readSettingsFile(root, NAME)).toEqual({
      status: 'failed',
      problems: [{ code: 'ERR_PROJECT_FILE_UNREADABLE', message: `${NAME}: is not a file` }],
    });
  });
});

test('keys that JavaScript knows are plain keys', async () => {
  const result = await read('__proto__: {polluted: true}\nconstructor: 1\n');
  expect(result.status === 'ok' && Object.keys(result.file?.values ?? {})).toEqual([
    '__proto__',
    'constructor',
  ]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});
