import { describe, expect, test } from 'vitest';
import { isNoOpCommand, titleOf, VerifyCommand } from '../../src/domain/plan.ts';
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
