import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { knownSecretFinder } from '../../../src/domain/secrets/redact.ts';
import { addedSecrets } from '../../../src/domain/secrets/secret-scan.ts';

const KNOWN = 'correct-horse-battery';
const findKnown = knownSecretFinder([KNOWN]);
const scan = (after: string, before = '', path = 'a.txt') =>
  addedSecrets({ path, before, after }, findKnown).map(({ line, what }) => `${line} ${what}`);

const MIXED = 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1eF3hJ5kM7nP9rS1uV3xY5zA7cD9fG1iK3lN5oQ7rT9u';
const hex = '0123456789abcdef'.repeat(4);

describe('a token in an added line is found:', () => {
  test.each([
    ['GitHub token', `ghp_${MIXED.slice(0, 36)}`],
    ['GitHub token', `ghs_123456_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.${MIXED}-_x`],
    ['GitHub token', `github_pat_${MIXED.slice(0, 22)}_${MIXED.slice(0, 59)}`],
    ['GitLab token', `glpat-${MIXED.slice(0, 20)}`],
    ['Anthropic API key', `sk-ant-api03-${MIXED}${MIXED.slice(0, 20)}`],
    ['OpenAI API key', `sk-proj-${MIXED.slice(0, 40)}T3BlbkFJ${MIXED.slice(0, 40)}`],
    ['Hugging Face token', 'hf_abcdefghijklmnopqrstuvwxyzABCDEFGH'],
    ['AWS access key id', 'AKIAQWERTYUIOPASDFGH'],
    ['AWS secret access key', `aws_secret_access_key = "${MIXED.slice(0, 40)}"`],
    ['Google API key', `AIza${MIXED.slice(0, 35)}`],
    ['Google OAuth secret', `GOCSPX-${MIXED.slice(0, 28)}`],
    ['Google OAuth token', `ya29.${MIXED}`],
    ['Azure storage key', `AccountKey=${`${MIXED}${MIXED}`.slice(0, 86)}==`],
    ['Slack token', `xoxb-123456789012-1234567890123-${MIXED.slice(0, 24)}`],
    ['Slack token', 'xapp-1-A0123456789-1234567890123-0123456789abcdef'],
    ['Slack webhook', `https://hooks.slack.com/services/${MIXED.slice(0, 44)}`],
    ['Stripe key', `sk_live_${MIXED.slice(0, 24)}`],
    ['npm token', `npm_${MIXED.slice(0, 36)}`],
    ['PyPI token', `pypi-AgEIcHlwaS5vcmc${MIXED}`],
    ['RubyGems key', `rubygems_${hex.slice(0, 48)}`],
    ['Docker Hub token', `dckr_pat_${MIXED.slice(0, 27)}`],
    ['SendGrid key', `SG.${MIXED.slice(0, 22)}.${MIXED.slice(0, 43)}`],
    ['DigitalOcean token', `dop_v1_${hex}`],
    ['Vault token', `hvs.${MIXED}${MIXED}`],
    ['private key', '-----BEGIN OPENSSH PRIVATE KEY-----'],
    ['private key', '-----BEGIN PGP PRIVATE KEY BLOCK-----'],
  ])('%s %s', (what, token) => {
    expect(scan(`one\n  key: ${token};\n`)).toEqual([`2 ${what}`]);
    expect(scan(`one\n  key: ${token};\n`, `two\n  key: ${token};\n`)).toEqual([]);
  });

  test.each([
    'AKIAIOSFODNN7EXAMPLE',
    `ghp_${'x'.repeat(36)}`,
    `npm_${'0'.repeat(36)}`,
    '-----BEGIN PUBLIC KEY-----',
    'sk-ant-…',
    `sha512-${MIXED}==`,
    hex,
    'task-oriented-programming-with-very-long-names-and-more',
  ])('but not in %s', (text) => {
    expect(scan(`${text}\n`)).toEqual([]);
  });
});

describe('a known value is found', () => {
  test('encoded, across lines, in UTF-16, and in the name of the file', () => {
    const long = Buffer.from(`${'x'.repeat(49)}${KNOWN}`).toString('base64');
    expect(scan(`a\n${long.slice(0, 76)}\n${long.slice(76)}\n`)).toEqual(['2 a known secret value']);
    expect(scan(Buffer.from(`a\n${KNOWN}\n`, 'utf16le').toString())).toEqual(['2 a known secret value']);
    expect(scan('a', '', `${KNOWN}.txt`)).toEqual(['0 a known secret value']);
  });

  test('by what it adds to lines that were there: a later line of the block, or another order', () => {
    const other = 'another-secret-value';
    const find = knownSecretFinder([KNOWN, other]);
    const lines = Buffer.from(`${'x'.repeat(9)}${KNOWN}${'x'.repeat(80)}${other}${'x'.repeat(60)}`);
    const [first = '', ...rest] = lines.toString('base64').match(/.{1,76}/g) ?? [];
    const scanned = (after: string, before: string) => addedSecrets({ path: 'a', before, after }, find);
    expect(scanned([first, ...rest].join('\n'), `${first}\n`)).toMatchObject([{ line: 1 }]);
    const [both, one] = [
      `ghp_${MIXED.slice(0, 36)} gho_${MIXED.slice(0, 36)}\n`,
      `ghp_${MIXED.slice(9, 45)}\n`,
    ];
    expect(scan(`${both}${one}`, `${one}${both}`)).toEqual([]);
  });

  test('wherever it stands', () => {
    const line = fc.string({ unit: fc.constantFrom('a', ' ', '=', '\r', '\0', 'é'), maxLength: 9 });
    fc.assert(
      fc.property(fc.array(line, { maxLength: 9 }), fc.nat(8), line, line, (lines, at, before, after) => {
        const place = Math.min(at, lines.length);
        const changed = lines.toSpliced(place, 0, `${before}${KNOWN}${after}`);
        expect(scan(changed.join('\n'), lines.join('\n'))).toEqual([`${place + 1} a known secret value`]);
      }),
    );
  });
});

describe('in a text of many lines', () => {
  const filler = 'x\n'.repeat(400_000);

  test('secrets are found with their lines, in UTF-16 as well', () => {
    const wide = [...KNOWN].map((one) => `${one}\0`).join('');
    const found = scan(`\na ${KNOWN}\n${filler}b ${wide}\n`, filler);
    expect(found).toEqual(['2 a known secret value', '400003 a known secret value']);
  });

  test('a line that was there before is nothing new, however often it is found', () => {
    const line = `key ${KNOWN} ${KNOWN}\n`;
    expect(scan(`${filler}${line}${line}`, `${line}${filler}`)).toEqual(['400002 a known secret value']);
    expect(scan(`${filler}${line}`, `${line}${filler}`)).toEqual([]);
  });

  test('more findings than are kept withhold the patch, but not those that were there before', () => {
    const many = (length: number) => Array.from({ length }, (_, n) => `${n} ${KNOWN}\n`).join('');
    expect(scan(many(1_200))).toContain('0 has too many places that look like secrets');
    // As in the dump of a database, with its owner in each statement.
    expect(scan(`${many(5_000)}more\n`, many(5_000))).toEqual([]);
    expect(scan(`${many(5_000)}more ${KNOWN}\n`, many(5_000))).toEqual(['5001 a known secret value']);
  });

  test('one line of many megabytes is searched as well', () => {
    const long = 'aB3dE5gH7j'.repeat(2_000_000);
    expect(scan(`ghs_${long}`)).toEqual(['1 GitHub token']);
    expect(scan(`${long}${KNOWN}`)).toEqual(['1 a known secret value']);
  });
});
