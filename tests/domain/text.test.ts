import { describe, expect, test } from 'vitest';
import { isNoOpCommand, titleOf, VerifyCommand } from '../../src/domain/plan.ts';
import { openEndOf, redactedJson, redactorFor } from '../../src/domain/redact.ts';
import { render } from '../../src/domain/template.ts';
import { oneLine, prefixed } from '../../src/domain/terminal-text.ts';

describe('render', () => {
  test('fills every place, and inserts values as they are', () => {
    expect(render('a {{x}} b {{x}}\n', { x: '{{y}} $&' })).toBe('a {{y}} $& b {{y}} $&');
  });

  test('a missing and an unused name are bugs', () => {
    expect(() => render('{{x}}', {})).toThrow('{{x}}');
    expect(() => render('', { x: '1' })).toThrow('x');
  });
});

describe('redactorFor', () => {
  const secret = 'sk-ant-"quoted"/secret+value';
  const redact = redactorFor([secret, 'short']);

  test.each([
    ['raw', secret],
    ['JSON-escaped', JSON.stringify(secret)],
    ['URL-encoded', encodeURIComponent(secret)],
    ['base64', Buffer.from(secret).toString('base64')],
    ['hex', Buffer.from(secret).toString('hex')],
  ])('hides a secret that is %s', (_, form) => {
    const shown = redact(`before ${form} after`);
    expect(shown).toContain('***');
    expect(shown).not.toContain(form);
  });

  test('knows a multi-line secret line by line', () => {
    expect(redactorFor(['first line of key\nsecond line of key'])('x second line of key')).toBe('x ***');
  });

  test('in JSON only touches strings and names, so that it stays JSON', () => {
    const redactNumber = redactorFor(['12345678']);
    const value = { a: 12345678, '12345678': ['x 12345678', null, true] };
    expect(JSON.parse(redactedJson(value, redactNumber))).toEqual({
      a: 12345678,
      '***': ['x ***', null, true],
    });
  });

  test.each([
    ['nothing', 0],
    ['it is ab', 2],
    ['abcdefg', 7],
    ['abcdefgh', 0],
    ['abcab', 2],
    ['', 0],
  ])('%j may end in the beginning of a secret: %i characters', (text, open) => {
    expect(openEndOf(['abcdefgh', 'short'])(text)).toBe(open);
  });

  test('leaves short values alone, which would blank out ordinary text', () => {
    expect(redact('short')).toBe('short');
  });
});

describe('a plan', () => {
  test.each([
    '',
    '  ',
    'true',
    ':',
    'exit 0',
    'exit',
    'echo ok',
    "printf 'fine'",
    '# npm test',
    '/bin/true;',
    'npm test || true',
    'cd a && npm test || echo failed;',
  ])('%j verifies nothing', (command) => {
    expect(isNoOpCommand(command)).toBe(true);
    expect(VerifyCommand.safeParse(command).success).toBe(false);
  });

  test.each([
    'npm test',
    'exit 1',
    'echo x | grep y',
    'true && npm test',
    'test -f a',
    'truest',
    'set -e; npm test; x || true',
    'a || true b',
  ])('%j verifies something', (command) => {
    expect(isNoOpCommand(command)).toBe(false);
  });

  test('is called by its first heading, else its first line', () => {
    expect(titleOf('intro\n\n## Do it\n')).toBe('Do it');
    expect(titleOf('\nDo that\nmore')).toBe('Do that');
    expect(titleOf('x'.repeat(100))).toHaveLength(80);
  });
});

describe('text for terminals', () => {
  test('control sequences and workflow commands lose their meaning', () => {
    expect(oneLine('::set-output name=x::y')).toBe(': :set-output name=x::y');
    expect(oneLine('a##[error]b\x1b[31m\r\nc')).toBe('a# #[error]b [31m  c');
  });

  test('every line of many is prefixed, also after a lone CR', () => {
    expect(prefixed('a\rb\n::c', '| ')).toBe('| a\n| b\n| : :c');
  });
});
