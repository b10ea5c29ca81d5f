import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  commitMessage,
  isMadeFor,
  isOfAnotherRequest,
  originOfCommit,
} from '../../../../src/domain/github/publishing/commit-message.ts';
import { plainLine } from '../../../../src/domain/github/publishing/plain-text.ts';

const origin = { runId: '20261121-164500-3f9a', tree: '3'.repeat(40), base: 'main', request: 'issue 7' };

describe('the message of a commit', () => {
  test('has the title, and says which run made which tree', () => {
    expect(commitMessage('Round amounts half to even', origin)).toBe(
      [
        'Round amounts half to even',
        '',
        'Patchsmith-Run: 20261121-164500-3f9a',
        `Patchsmith-Tree: ${'3'.repeat(40)}`,
        'Patchsmith-Base: main',
        'Patchsmith-Request: issue 7',
        '',
      ].join('\n'),
    );
  });

  test('gives its origin back, whatever the title is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (title) => {
        expect(originOfCommit(commitMessage(title, origin))).toEqual(origin);
      }),
    );
  });

  test.each([
    ['no trailers', 'Fix it\n\nBy hand.'],
    ['a subject alone', 'Patchsmith-Run: r'],
    [
      'trailers in another place than the end',
      `a\n\nPatchsmith-Run: r\nPatchsmith-Tree: ${origin.tree}\n\nb`,
    ],
    ['one of them', 'a\n\nPatchsmith-Run: r'],
    ['one of them twice', `a\n\nPatchsmith-Run: r\nPatchsmith-Run: s\nPatchsmith-Tree: ${origin.tree}`],
    ['no object id', 'a\n\nPatchsmith-Run: r\nPatchsmith-Tree: main'],
  ])('with %s has no origin', (_, message) => {
    expect(originOfCommit(message)).toBeNull();
  });

  test.each(['main', 'release/1', 'fix-#7', '@team/x', `${'long'.repeat(80)}`])(
    'says that it was made for %s, and for no other branch',
    (base) => {
      const said = originOfCommit(commitMessage('a', { ...origin, base }));
      expect(said && [isMadeFor(said, base), isMadeFor(said, 'other')]).toEqual([true, false]);
      expect(isMadeFor({ ...origin, base: null }, base)).toBe(true);
    },
  );

  test.each([
    ['issue 7', 'issue 7', false],
    ['issue 7', 'comment 12', true],
    ['comment 12', 'comment 12', false],
    ['comment 12', 'comment 13', true],
    ['comment 12', null, true],
    [null, null, false],
    [null, 'issue 7', false],
    // As commits were made before they named it.
    [null, 'comment 12', true],
  ])('of %j has work that one of %j would lose: %j', (said, request, isLost) => {
    expect(isOfAnotherRequest({ ...origin, request: said }, request)).toBe(isLost);
  });

  test('may have other trailers, such as those that GitHub adds', () => {
    const message = `${commitMessage('a', origin).trimEnd()}\r\nCo-authored-by: x <x@example.com>\r\n`;
    expect(originOfCommit(message)).toEqual(origin);
  });
});

describe('a line without Markdown', () => {
  test.each([
    ['Fixes #3 and acme/shop#4', 'Fixes # 3 and acme/shop# 4'],
    ['closes GH-3', 'closes GH 3'],
    ['Give a high-5, aGH-1', 'Give a high-5, aGH-1'],
    ['\u017fGH-1 \u212aGH-1 \u017f@mona', '\u017fGH 1 \u212aGH 1 \u017f＠mona'],
    ['Resolves https://github.com/acme/shop/issues/3', 'Resolves https:// github.com/acme/shop/issues/3'],
    ['Bump @types/node for @mona', 'Bump ＠types/node for ＠mona'],
    ['mail a@b.example', 'mail a@b.example'],
    ['Update [skip ci] [ CI  SKIP ]', 'Update (skip ci) (CI SKIP)'],
    ['one\ntwo\u2028three', 'one two three'],
    ['x \u202egnp.exe', 'x gnp.exe'],
    ['Use C# in #general', 'Use C# in #general'],
  ])('%j becomes %j', (text, expected) => {
    expect(plainLine(text, 200)).toBe(expected);
  });

  const nasty = fc.constantFrom(
    ...['@', '#', '1', 'a', 'GH', '-', '://', '[', ']', 'skip ci', ' ', 'fixes', '\u200b', '\n', '/', '😀'],
  );

  test('is short, closes nothing, mentions no one and skips no checks', () => {
    fc.assert(
      fc.property(fc.array(nasty, { maxLength: 60 }), fc.integer({ min: 1, max: 80 }), (parts, max) => {
        const line = plainLine(parts.join(''), max);
        expect(line.length).toBeLessThanOrEqual(max);
        expect(line).not.toMatch(
          /#\d|(?<![a-z0-9_])gh-\d|:\/\/[^\s…]|(?:^|\W)@\w|\[\s*skip ci\s*\]|[\n\u200b]/i,
        );
      }),
    );
  });
});
