import { describe, expect, test } from 'vitest';
import type { ToolCall } from '../../../src/domain/conversation/conversation.ts';
import type { CommandEnd, ToolOutcome } from '../../../src/domain/conversation/tool.ts';
import { signsIn } from '../../../src/domain/review/denial-signs.ts';
import {
  type Denial,
  denialsOf as denialsIn,
  deniedChanges,
  deniedHosts,
  describeDenials,
  MAX_DENIALS,
  NO_DENIALS,
  withDenials,
  withUnwritable,
} from '../../../src/domain/review/denied.ts';

const denialsOf = (call: ToolCall, outcome: ToolOutcome, known: readonly Denial[] = []) =>
  denialsIn(call, outcome, { root: '/work', known });
const end = (exitCode: number): CommandEnd => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  durationMs: 1,
});
const write = { id: 'w', name: 'write_file', input: { path: 'x/y.txt', content: '' } };
const run = { id: 'c', name: 'run_command', input: { command: 'make all' } };
const failed = (reason: 'policy' | 'path_refused' | 'not_found', text: string): ToolOutcome => ({
  status: 'failed',
  reason,
  text,
});
const ended = (text: string, exitCode = 1): ToolOutcome =>
  exitCode === 0
    ? { status: 'ok', text, command: end(0) }
    : { status: 'failed', reason: 'exit_code', text, command: end(exitCode) };
const found = (outcome: ToolOutcome) => denialsOf(run, outcome).map(({ kind, what }) => [kind, what]);

describe('a file tool', () => {
  test('is denied what the policy or the file system keeps from it', () => {
    expect(denialsOf(write, failed('policy', 'The plan does not allow it.\u001b[2J'))).toEqual([
      { kind: 'policy', what: 'x/y.txt', calls: ['w'], why: 'The plan does not allow it. [2J' },
    ]);
    const readOnly = failed(
      'path_refused',
      '"x/y.txt" cannot be written: the file system is read-only (EROFS).',
    );
    expect(denialsOf(write, readOnly)).toMatchObject([{ kind: 'sandbox', what: 'x/y.txt' }]);
    const git = { ...write, input: { path: '.git/config' } };
    expect(denialsOf(git, failed('path_refused', 'off limits'))).toMatchObject([{ kind: 'policy' }]);
  });

  test('is denied nothing by its own mistakes', () => {
    expect(denialsOf(write, failed('path_refused', '"x" is a folder.'))).toEqual([]);
    expect(denialsOf(write, failed('not_found', 'There is no "x".'))).toEqual([]);
  });

  test.each([
    ['/etc/hosts', '"/etc/hosts" is absolute.', true],
    ['/worker/x', '"/worker/x" is absolute.', true],
    ['/work/x', '"/work/x" is absolute.', false],
    ['out/x', '"out" is a symbolic link to "/tmp"; links are not followed.', true],
    ['a/out', '"a/out" is a symbolic link to "../../x \\"y\\""; links are not followed.', true],
    ['a/in', '"a/in" is a symbolic link to "../b"; links are not followed.', false],
    ['in', '"in" is a symbolic link to "/work/b"; links are not followed.', false],
    ['in', '"in" is a symbolic link; links are not followed.', false],
    // Of a name with a line end and a token behind it, whose escape was cut.
    ['x', '"\\***" is a symbolic link to "in"; links are not followed.', true],
  ])('that would write to %j is denied what lies outside: %s', (path, text, isDenied) => {
    const found = denialsOf({ ...write, input: { path } }, failed('path_refused', text));
    expect(found.map(({ kind, what }) => [kind, what])).toEqual(isDenied ? [['policy', path]] : []);
    expect(denialsOf({ ...write, name: 'read_file', input: { path } }, failed('path_refused', text))).toEqual(
      [],
    );
  });

  test('that does not exist is a mistake and not denied', () => {
    const outcome: ToolOutcome = { status: 'failed', reason: 'unknown_tool', text: 'Unknown tool' };
    expect(denialsOf({ ...run, name: 'browse' }, outcome)).toEqual([]);
  });
});

test('a page that may not be read is denied by its host', () => {
  const fetch = { id: 'f', name: 'web_fetch', input: { url: 'https://a.example:8443/x' } };
  const hosts = (text: string) =>
    denialsOf(fetch, failed('policy', text)).map(({ kind, what }) => [kind, what]);
  expect(hosts('Not read: b.example is not one of the hosts that may be read.')).toEqual([
    ['network', 'b.example'],
  ]);
  expect(hosts('Not read: it resolves to 10.0.0.1.')).toEqual([['network', 'a.example:8443']]);
});

describe('of a command its output tells', () => {
  test.each([
    ['/usr/bin/bash: line 1: eslint: command not found\n[exit code 127]', 127, [['missing_tool', 'eslint']]],
    ['/bin/bash: line 3: eslint: command not found\n[exit code 0]', 0, [['missing_tool', 'eslint']]],
    [
      '/run/patchsmith/script: line 3: eslint: command not found\n[exit code 0]',
      0,
      [['missing_tool', 'eslint']],
    ],
    ['/x/scratch/command-7.sh: line 3: eslint: command not found', 0, [['missing_tool', 'eslint']]],
    ['Linting ... /bin/bash: line 3: eslint: command not found', 0, [['missing_tool', 'eslint']]],
    ['a.log:7:/bin/bash: line 3: eslint: command not found', 0, []],
    ['sh: 1: eslint: not found\n', 1, [['missing_tool', 'eslint']]],
    ['/usr/bin/env: ‘python’: No such file or directory\n', 127, [['missing_tool', 'python']]],
    ['nothing said', 127, [['missing_tool', 'make all']]],
    ["touch: cannot touch '/etc/x': Read-only file system\n", 1, [['sandbox', '/etc/x']]],
    ["sed: couldn't open temporary file sub/sedA: Read-only file system\n", 1, [['sandbox', 'sub/sedA']]],
    ['mkdir: /opt/x: Read-only file system\n', 1, [['sandbox', '/opt/x']]],
    ['mkdir: cannot move /a to /opt/x y: Read-only file system\n', 1, [['sandbox', '/opt/x y']]],
    [
      'wget: Refused by the sandbox: the host x-1.example.org is not allowed',
      1,
      [['network', 'x-1.example.org']],
    ],
    ['Error: EROFS: read-only file system, open\n', 1, [['sandbox', 'make all']]],
    ['curl: (6) Could not resolve host: example.org\n', 6, [['network', 'example.org']]],
    ['npm error getaddrinfo EAI_AGAIN registry.npmjs.org\n', 1, [['network', 'registry.npmjs.org']]],
    ['NameResolutionError("Failed to resolve \'pypi.org\' ([Errno -3])")\n', 1, [['network', 'pypi.org']]],
    ['psql: error: could not translate host name "db.example" to address', 2, [['network', 'db.example']]],
    [
      'sh: 1: a: not found\nsh: 1: a: not found\nsh: 1: b: not found\n',
      1,
      [
        ['missing_tool', 'a'],
        ['missing_tool', 'b'],
      ],
    ],
    ['sh: 1: eslint: not found in the log\n', 1, []],
    ['sh: 1: eslint: not found\n', 0, []],
    ['1 failed', 1, []],
  ])('%j (exit code %d)', (text, exitCode, denied) => {
    expect(found(ended(text, exitCode))).toEqual(denied);
  });
});

test('the notice about cut output is not part of the output', () => {
  const notice =
    '[OUTPUT TRUNCATED: Showing 1 of 2 characters from run_command] To see the rest: run_command {"command":"grep \\"Read-only file system\\" x"}';
  expect(found(ended(`1\n${notice}\n2\n`))).toEqual([]);
});

test('lines of the whole output count instead of what is left of it', () => {
  const outcome = ended('sh: 1: a: not found\n');
  const signs = ['sh: 1: b: not found'];
  expect(found({ ...outcome, signs } as ToolOutcome)).toEqual([['missing_tool', 'b']]);
  expect(signsIn([...signs, '/bin/bash: line 1: c: command not found', '1 failed'], 'ok')).toEqual([
    '/bin/bash: line 1: c: command not found',
  ]);
});

test('places that a command could not write to are known however it ended, but are not denials if it succeeded', () => {
  const line = "sed: couldn't open temporary file /work/sub/x: Read-only file system";
  const signs = signsIn([line, 'cat: EPERM', 'npm error getaddrinfo EAI_AGAIN a.org'], 'ok');
  expect(signs).toEqual([line]);
  const outcome = { ...ended('said', 0), signs } as ToolOutcome;
  expect(denialsOf(run, outcome)).toEqual([]);
  const known = withUnwritable([], run, outcome);
  expect(known.map(({ kind, what }) => [kind, what])).toEqual([['sandbox', '/work/sub/x']]);
  expect(withUnwritable(known, run, { ...ended('said', 1), signs } as ToolOutcome)).toBe(known);
});

test('the list is bounded, and what it leaves out is counted', () => {
  const paths = Array.from({ length: MAX_DENIALS + 5 }, (_, at) => `a${at}`);
  const all = withDenials(NO_DENIALS, deniedChanges(paths, { calls: ['c'] }, 'a command'));
  expect([all.named.length, all.count]).toEqual([MAX_DENIALS, MAX_DENIALS + 5]);
  expect(withDenials(all, deniedChanges(['a0'], { calls: ['c'] }, 'a command')).count).toBe(MAX_DENIALS + 5);
  expect(describeDenials(all)).toBe(
    'a0 (policy), a1 (policy), a2 (policy), a3 (policy), a4 (policy) and 95 more (105 in all)',
  );
});

test('hosts that were refused are denied to the calls that asked, and to no call where another names them', () => {
  const refused = (host: string, ...calls: string[]) => {
    const by = { by: 'command', outcome: 'refused' } as const;
    return { host, ...by, times: 2, why: `${host} is refused`, allow: null, calls };
  };
  const known = denialsOf(run, ended('curl: (6) Could not resolve host: a.org'));
  const bySetup = { ...refused('a.org'), commands: ['npm ci'] };
  expect(deniedHosts([refused('a.org'), refused('a.org', 'd'), refused('b.org'), bySetup], known)).toEqual([
    { kind: 'network', what: 'a.org', calls: ['d'], why: 'a.org is refused' },
    { kind: 'network', what: 'b.org', calls: [], why: 'b.org is refused' },
    { kind: 'network', what: 'a.org', calls: [], commands: ['npm ci'], why: 'a.org is refused' },
  ]);
});

test('what a command prints of a host that is known to have been refused to it says nothing new', () => {
  const output =
    'Refused by the sandbox: a.org:22 is refused: no host is allowed\nCould not resolve host: b.org\nssh: Could not resolve hostname b.org: Name or service not known\nCould not resolve host: c.org\n';
  const known = (...calls: string[]) =>
    ['a.org:22', 'b.org'].map((what) => ({ kind: 'network' as const, what, calls, why: 'refused' }));
  const named = (calls: string[]) => denialsOf(run, ended(output), known(...calls)).map(({ what }) => what);
  expect(named(['b', 'c'])).toEqual(['c.org']);
  expect(named(['b'])).toEqual(['a.org', 'b.org', 'make all', 'c.org']);
});

test.each([
  ['/bin/bash: line 1: sub/b.txt: Permission denied', 1, 'sub/b.txt'],
  ['/bin/bash: line 1: ./tool: Permission denied', 126, null],
  ["touch: cannot touch 'sub/new': Permission denied", 1, 'sub/new'],
  ["sed: couldn't open temporary file sub/sedA1b2c3: Permission denied", 4, 'sub/sedA1b2c3'],
  ["Error: EACCES: permission denied, open '/work/sub/x'", 1, '/work/sub/x'],
  ['cat: /etc/shadow: Permission denied', 1, null],
  ["ls: cannot open directory '/root': Permission denied", 2, null],
])('of writes, what a command prints about permission is a denial: %s', (line, exitCode, what) => {
  expect(found(ended(line, exitCode))).toEqual(what === null ? [] : [['sandbox', what]]);
});
