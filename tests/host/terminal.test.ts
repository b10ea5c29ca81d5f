import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { openPeople } from '../../src/host/terminal.ts';

/** What is made of a stderr with this environment. */
function seen(isTTY: boolean, env: Record<string, string>) {
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 100, rows: 30 });
  const { terminal, hasColors } = openPeople({ stderr: stderr as unknown as NodeJS.WriteStream, env });
  return [terminal === null ? 'lines' : 'view', hasColors ? 'colours' : 'plain'].join(', ');
}

test.each([
  [true, { TERM: 'xterm-256color' }, 'view, colours'],
  [true, { TERM: 'xterm-256color', NO_COLOR: '1' }, 'view, plain'],
  [true, { TERM: 'xterm-256color', CI: 'true', NO_COLOR: '1' }, 'lines, plain'],
  [true, { TERM: 'xterm-256color', CI: 'false' }, 'view, colours'],
  [true, { TERM: 'dumb' }, 'lines, plain'],
  [true, { TERM: 'xterm', NO_COLOR: '1', FORCE_COLOR: '1' }, 'view, colours'],
  [false, {}, 'lines, plain'],
  [false, { TERM: 'xterm-256color' }, 'lines, plain'],
  [false, { FORCE_COLOR: '1' }, 'lines, colours'],
  [false, { FORCE_COLOR: '0' }, 'lines, plain'],
  [false, { CI: 'true', GITHUB_ACTIONS: 'true' }, 'lines, plain'],
] as const)('a terminal: %s, with %j, gets %s', (isTTY, env, expected) => {
  expect(seen(isTTY, env)).toBe(expected);
});
