import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWithin, parseRepoPath } from '../../../src/domain/changes/path.ts';

describe('parseRepoPath', () => {
  test.each([
    ['src/a.ts', 'src/a.ts'],
    ['./src//a.ts/', 'src/a.ts'],
    ['.', ''],
    ['', ''],
    ['app/[...slug].tsx', 'app/[...slug].tsx'],
    ['a..b', 'a..b'],
    ['..a/b', '..a/b'],
    ['%2e%2e/x', '%2e%2e/x'],
    ['~/x', '~/x'],
    ['a\\..\\b', 'a\\..\\b'],
    ['with\nnewline', 'with\nnewline'],
    ['.github/x', '.github/x'],
    ['.gitignore', '.gitignore'],
  ])('%j is the path %j', (written, path) => {
    expect(parseRepoPath(written)).toEqual({ ok: true, path });
  });

  test.each([
    ['/etc/passwd', 'absolute'],
    ['../x', '".."'],
    ['a/../../x', '".."'],
    ['a/..', '".."'],
    ['a\0b', 'NUL'],
    ['.git/config', "git's own folder"],
    ['sub/.GIT/hooks/x', "git's own folder"],
    ['.git./config', "git's own folder"],
    ['.git::$INDEX_ALLOCATION/config', "git's own folder"],
    ['GIT~1/config', "git's own folder"],
    ['.g\u200cit/config', "git's own folder"],
    ['.ｇｉｔ/config', "git's own folder"],
    ['.Git', "git's own folder"],
    ['.git /config', "git's own folder"],
    ['.git. . ./config', "git's own folder"],
    ['.git:stream/config', "git's own folder"],
    ['git~1 ./config', "git's own folder"],
    // All that HFS+ leaves out of names (git's utf8.c).
    ...[
      ...'\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u206a\u206b\u206c\u206d\u206e\u206f\ufeff',
    ].map((ignored): [string, string] => [`.${ignored}gi${ignored}t/config`, "git's own folder"]),
    ['x'.repeat(256), '255 bytes'],
    [`${'x/'.repeat(2_500)}y`, '4000 bytes'],
  ])('%j is refused', (written, why) => {
    const verdict = parseRepoPath(written);
    expect(verdict.ok ? verdict.path : verdict.message).toContain(why);
    expect(verdict.ok).toBe(false);
  });
});

describe('isWithin', () => {
  test('agrees with the relative path of any two absolute ones', () => {
    const path = fc
      .array(fc.constantFrom('a', 'ab', '..a', 'b'), { maxLength: 4 })
      .map((names) => `/${names.join('/')}`);
    fc.assert(
      fc.property(path, path, (one, other) => {
        const way = posix.relative(other, one);
        expect(isWithin(one, other)).toBe(way !== '..' && !way.startsWith('../'));
      }),
    );
  });
});
