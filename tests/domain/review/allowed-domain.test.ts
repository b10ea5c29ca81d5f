import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  AllowedDomain,
  AllowedPrivate,
  isCovered,
  parseTarget,
  permits,
} from '../../../src/domain/review/reachable.ts';
import { randomCases } from '../../support/setup/sample.ts';

const LIST = ['registry.npmjs.org', '*.example.com', 'cache.example.org:8443'];

/** Whether a proxy request for this gets through. */
function isPermitted(authority: string, list = LIST): boolean {
  const target = parseTarget(authority, null);
  return typeof target !== 'string' && permits(list, target);
}

describe('an entry of --allow-domain', () => {
  test.each(['registry.npmjs.org', '*.example.com', 'a.b:8443', '*.a.b:1', 'xn--bcher-kva.example'])(
    'may be %s',
    (entry) => expect(AllowedDomain.parse(` ${entry.toUpperCase()} `)).toBe(entry),
  );

  test.each([
    '',
    '*',
    '*.com',
    'localhost',
    '127.0.0.1',
    '1.2.3.4:443',
    '[::1]',
    '::1',
    '0x7f.1',
    'a.0x7f',
    'example.com.',
    '.example.com',
    'a..b',
    'ex*mple.com',
    '*.*.example.com',
    'https://example.com',
    'example.com/path',
    'user@example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:',
    'bücher.example',
    'еxample.com',
    'exa mple.com',
    'example.com\0.evil.com',
    '-a.example',
    'a_b.example',
    '\u212a.example.com',
    `${'a'.repeat(64)}.example`,
  ])('is not %j', (entry) => expect(AllowedDomain.safeParse(entry).success).toBe(false));
});

describe('an entry of --allow-private', () => {
  test.each(['registry', 'registry:4873', 'nexus.corp.example', 'a.b:1'])('may be %s', (entry) =>
    expect(AllowedPrivate.parse(` ${entry.toUpperCase()} `)).toBe(entry),
  );

  test.each([
    '',
    '*',
    '*.corp.example',
    'localhost',
    'localhost:4873',
    'a.localhost',
    '10.0.0.1',
    '169.254.169.254:80',
    '2130706433',
    '0x7f000001',
    '[fd00::1]',
    'registry.',
    'registry:0',
    'http://registry',
    'user@registry',
    'registry/x',
    'b\u00fccher',
  ])('is not %j', (entry) => expect(AllowedPrivate.safeParse(entry).success).toBe(false));
});

describe('a host that is asked for', () => {
  test.each([
    'registry.npmjs.org:443',
    'registry.npmjs.org:80',
    'REGISTRY.npmjs.ORG:443',
    'a.example.com:443',
    'a.b.example.com:80',
    'cache.example.org:8443',
  ])('gets through as %s', (authority) => expect(isPermitted(authority)).toBe(true));

  test.each([
    ['another host', 'evil.com:443'],
    ['a name that only ends alike', 'evilregistry.npmjs.org:443'],
    ['a name below an exact one', 'a.registry.npmjs.org:443'],
    ['a name that only begins alike', 'registry.npmjs.org.evil.com:443'],
    ['the domain of a wildcard itself', 'example.com:443'],
    ['a name that ends like a wildcard without its dot', 'evilexample.com:443'],
    ['another port', 'registry.npmjs.org:22'],
    ['a usual port of an entry with one', 'cache.example.org:443'],
    ['a port with a sign', 'registry.npmjs.org:+443'],
    ['a port too long', 'registry.npmjs.org:000443'],
    ['no port', 'registry.npmjs.org'],
    ['a trailing dot', 'registry.npmjs.org.:443'],
    ['a NUL', 'registry.npmjs.org\0.evil.com:443'],
    ['an encoded NUL', 'registry.npmjs.org%00.evil.com:443'],
    ['a user before it', 'registry.npmjs.org@evil.com:443'],
    ['a user and password before it', 'registry.npmjs.org:443@evil.com:443'],
    ['a path', 'registry.npmjs.org:443/..'],
    ['a fragment', 'evil.com#.example.com:443'],
    ['a backslash', 'evil.com\\.example.com:443'],
    ['blanks', ' registry.npmjs.org:443'],
    ['a letter of another script', 'rеgistry.npmjs.org:443'],
    ['a full-width dot', 'registry。npmjs。org:443'],
    ['a letter that folds to ASCII', 'registry.npmjſ.org:443'],
    ['the Kelvin sign', '\u212a.example.com:443'],
    ['an address', '127.0.0.1:443'],
    ['a decimal address', '2130706433:443'],
    ['an octal address', '0177.0.0.1:443'],
    ['a hexadecimal address', '0x7f000001:443'],
    ['a short address', '127.1:443'],
    ['the metadata address', '169.254.169.254:80'],
    ['an IPv6 address', '[::1]:443'],
    ['a mapped address', '[::ffff:127.0.0.1]:443'],
    ['a scoped address', '[fe80::1%25eth0]:443'],
    ['nothing', ''],
    ['a lone colon', ':443'],
  ])('is refused as %s', (_what, authority) => expect(isPermitted(authority)).toBe(false));

  test('is refused as an address even below a wildcard', () => {
    expect(parseTarget('1.2.3.4:443', null)).toBe('an address is not a host name');
    expect(parseTarget('a.0x7f:443', null)).toBe('an address is not a host name');
  });

  test('is permitted only when it ends with what the list says, whatever it is', () => {
    const piece = fc.constantFrom(
      'registry',
      'npmjs',
      'org',
      'example',
      'com',
      'evil',
      '.',
      ':',
      '443',
      '@',
      '%',
      '\0',
      '*',
      '[',
      '1',
      'e',
      'ｅ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 9 }), (pieces) => {
        const authority = pieces.join('');
        if (!isPermitted(authority)) return;
        expect(authority).toMatch(/^(?:registry\.npmjs\.org|(?:[a-z0-9]+\.)+example\.com):443$/);
      }),
      { numRuns: randomCases(20_000) },
    );
  });
});

test('a shorter list is covered by a longer one, and a wider one is not', () => {
  const covered = [
    'registry.npmjs.org',
    'registry.npmjs.org:443',
    'a.example.com',
    '*.a.example.com',
    '*.example.com:80',
    'cache.example.org:8443',
  ];
  expect(covered.filter((entry) => !isCovered(entry, LIST))).toEqual([]);
  const wider = [
    '*.npmjs.org',
    '*.registry.npmjs.org',
    'example.com',
    'cache.example.org',
    'registry.npmjs.org:8443',
    'evil.com',
  ];
  expect(wider.filter((entry) => isCovered(entry, LIST))).toEqual([]);
});
