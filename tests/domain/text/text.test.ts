import { describe, expect, test } from 'vitest';
import { isNoOpCommand, titleOf, VerifyCommand } from '../../../src/domain/run/plan.ts';
import { inertJson, oneLine, prefixed } from '../../../src/domain/text/terminal.ts';
import { render } from '../../../src/prompts.ts';

describe('render', () => {
  test('fills every place, and inserts values unchanged', () => {
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
  test('marks of all runners, directions of reading and hidden characters too', () => {
    expect(oneLine('##vso[task.x]##teamcity[y] ## [z] # list')).toBe(
      '# #vso[task.x]# #teamcity[y] ## [z] # list',
    );
    expect(oneLine('a\u202eb\u2066c\u061cd\u200be\ufefff\u{e0041}g\u009bh')).toBe('a b c d e f g h');
    expect(oneLine('  ::warning::x')).toBe('  : :warning::x');
    expect(oneLine('é ☃ 💀\ttab')).toBe('é ☃ 💀\ttab');
  });

  test('JSON stays the same, and nothing in it is live', () => {
    const value = { 'a##[error]': '##vso[x]\u202e\u009b\u{e0041}\n💀 # ##' };
    const json = inertJson(JSON.stringify(value, null, 2));
    expect(JSON.parse(json)).toEqual(value);
    expect(json).not.toMatch(/##\w*\[|[\u0080-\u009f\u202e\u{e0041}]/u);
    expect(json).toContain('💀 # ##');
  });

  test('every line of many is prefixed, also after a lone CR', () => {
    expect(prefixed('a\rb\n::c', '| ')).toBe('| a\n| b\n| : :c');
  });
});
