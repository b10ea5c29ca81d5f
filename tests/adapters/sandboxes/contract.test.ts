/** What every sandbox keeps to, contained or not. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { CommandEnd } from '../../../src/domain/conversation/tool.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { withEnoughTime } from '../../support/waiting/enough-time.ts';
import { until } from '../../support/waiting/until.ts';
import { makePlace, open } from './fixture.ts';

const exited = (exitCode: number): CommandEnd => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  durationMs: expect.any(Number),
});
const timedOut: CommandEnd = { ...exited(0), exitCode: null, timedOut: true };
const interrupted: CommandEnd = { ...exited(0), exitCode: null, interrupted: true };
/** How a command ended whose whole output is kept. */
const said = (end: CommandEnd, head: string) => ({ end, output: { head, omitted: 0, tail: '' }, signs: [] });

describe.each([
  { mode: 'required', level: 'namespaces+seccomp' },
  { mode: 'off', level: 'none' },
] as const)('a sandbox of level $level', ({ mode, level }) => {
  test('says its level and warns of nothing', async () => {
    const { sandbox, warnings } = await open(makePlace(), mode);
    expect([sandbox.level, warnings]).toEqual([level, []]);
  });

  test('tells exit code and output, errors among the output in the order of writing', async () => {
    const { run } = await open(makePlace(), mode);
    expect(await run('for i in 1 2 3; do echo out $i; echo err $i >&2; done; exit 7')).toEqual(
      said(exited(7), 'out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n'),
    );
  });

  test('a missing command ends with exit code 127 and the shell’s message', async () => {
    const { run } = await open(makePlace(), mode);
    const { end, output } = await run('no-such-program');
    expect([end, output.head]).toEqual([
      exited(127),
      expect.stringContaining('no-such-program: command not found'),
    ]);
  });

  test.each([
    ['false | cat', 1],
    ['false; true', 1],
    ['false\ntrue', 1],
    ['(false; true); true', 1],
    ['{ false; true; } | cat', 1],
    ['for i in 1 2; do false; done; true', 1],
    ['false && true; true', 0],
    ['! false', 0],
    ['if false; then exit 3; fi', 0],
  ])('a strict script passes over no failure but those that bash itself forgives: %j', async (text, code) => {
    const { run } = await open(makePlace(), mode);
    expect((await run(text, { isStrict: true })).end).toEqual(exited(code));
  });

  test('a strict script may be longer than an argument', async () => {
    const { run } = await open(makePlace(), mode);
    const long = `: ${'x'.repeat(110_000)}\nfalse | cat\ntrue`;
    expect((await run(long, { isStrict: true })).end).toEqual(exited(1));
  });

  test('a program that dies of a signal is 128 and its number, as the shell reports it', async () => {
    const { run } = await open(makePlace(), mode);
    expect((await run('sh -c "kill -SEGV \\$\\$"; exit $?')).end).toEqual(exited(139));
  });

  test('a script whose own shell is killed does not look like success', async () => {
    const { end } = await (await open(makePlace(), mode)).run('kill -9 $$');
    expect(end.exitCode === 137 || end.signal === 'SIGKILL').toBe(true);
  });

  test('starts at the root of the work tree, and cd does not stick', async () => {
    const { root, run, text } = await open(makePlace(), mode);
    await run('mkdir sub && cd sub');
    expect(await text('pwd')).toBe(`${root}\n`);
  });

  test('writes of a command are in the work tree', async () => {
    const { root, text } = await open(makePlace(), mode);
    await text('mkdir -p a/b && printf new > a/b/file && chmod +x a/b/file');
    expect(readFileSync(join(root, 'a/b/file'), 'utf8')).toBe('new');
  });

  test('standard output and error can be opened by name', async () => {
    const { text } = await open(makePlace(), mode);
    expect(await text('echo a > /dev/stdout; echo b | tee /dev/stderr')).toBe('a\nb\nb\n');
  });

  test('standard input is closed, so that cat returns at once', async () => {
    const { run } = await open(makePlace(), mode);
    expect(await run('cat; read -r line || echo "nothing to read"')).toEqual(
      said(exited(0), 'nothing to read\n'),
    );
  });

  test('a background process does not hold the command and does not outlive it', async () => {
    const { run } = await open(makePlace(), mode);
    const seconds = oddSeconds();
    const result = await run(`sleep ${seconds} & (setsid sleep ${seconds} &) ; echo started`);
    expect(result).toEqual(said(exited(0), 'started\n'));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a timeout keeps the output and kills 33 processes in separate sessions that ignore TERM', async () => {
    const { run } = await open(makePlace(), mode);
    const seconds = oddSeconds();
    const script = `trap '' TERM HUP
      for i in $(seq 33); do setsid sh -c 'trap "" TERM HUP; sleep ${seconds}; :' & done
      echo 'up to here'; sleep ${seconds}`;
    const result = await withEnoughTime(
      (timeoutMs) => run(script, { timeoutMs }),
      ({ output }) => output.head !== '',
    );
    expect(result).toEqual(said(timedOut, 'up to here\n'));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a timeout that strikes while the command is still being started leaves nothing', async () => {
    const { run } = await open(makePlace(), mode);
    const seconds = oddSeconds();
    const limits = [0, 1, 2, 4, 6, 8, 10, 15];
    const results = await Promise.all(limits.map((timeoutMs) => run(`sleep ${seconds}`, { timeoutMs })));
    expect(results.map((result) => result.end)).toEqual(limits.map(() => timedOut));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('an abort ends the command as interrupted, with what was printed', async () => {
    const { root, run } = await open(makePlace(), mode);
    const stop = new AbortController();
    const seconds = oddSeconds();
    const result = run(`echo begun; touch begun; sleep ${seconds}`, { signal: stop.signal });
    await until('the command has begun', () => existsSync(join(root, 'begun')));
    stop.abort();
    expect(await result).toEqual(said(interrupted, 'begun\n'));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a signal that is aborted already starts nothing', async () => {
    const { root, run } = await open(makePlace(), mode);
    const { end } = await run('touch started', { signal: AbortSignal.abort() });
    expect([end, readdirSync(root)]).toEqual([interrupted, ['.git', 'hello.txt']]);
  });

  test('closing ends what runs, and can be done twice', async () => {
    const { sandbox, run } = await open(makePlace(), mode);
    const seconds = oddSeconds();
    const result = run(`sleep ${seconds}`);
    await until('the command sleeps', () => processesWith(seconds).length > 0);
    await sandbox.close();
    await sandbox.close();
    expect((await result).end).toEqual(interrupted);
    expect((await run('echo late')).end).toEqual(interrupted);
  });

  test('commands run in parallel', async () => {
    const { run } = await open(makePlace(), mode);
    // Each waits for the other's file: one after the other would never end.
    const [a, b] = await Promise.all([
      run('touch a; until [ -e b ]; do sleep 0.02; done; echo a'),
      run('touch b; until [ -e a ]; do sleep 0.02; done; echo b'),
    ]);
    expect([a.output.head, b.output.head]).toEqual(['a\n', 'b\n']);
  });

  test('a script of a megabyte runs, and its file is gone afterwards', async () => {
    const { run, runDir } = await open(makePlace(), mode);
    const before = readdirSync(join(runDir, 'scratch'), { recursive: true }).length;
    const result = await run(`: ${'x'.repeat(1024 * 1024)}\necho "it's" \\\n"long"; exit 5`);
    expect(result).toEqual(said(exited(5), "it's long\n"));
    expect(readdirSync(join(runDir, 'scratch'), { recursive: true })).toHaveLength(before);
  });

  test('a timeout longer than a timer can count does not fire at once', async () => {
    const { run } = await open(makePlace(), mode);
    expect((await run('sleep 0.1', { timeoutMs: 2 ** 40 })).end).toEqual(exited(0));
  });

  test('bytes that are not UTF-8 become U+FFFD, and characters cut by a write stay whole', async () => {
    const { text } = await open(makePlace(), mode);
    expect(await text(String.raw`printf '\377|\303'; sleep 0.05; printf '\244|'`)).toBe('\ufffd|ä|');
  });

  test('of a large output both ends are kept and the middle is counted', async () => {
    const { run } = await open(makePlace(), mode);
    const { output } = await run('seq 1000000');
    expect(output.head.length + output.omitted + output.tail.length).toBe(6_888_896);
    expect([output.head.slice(0, 6), output.tail.slice(-8)]).toEqual(['1\n2\n3\n', '1000000\n']);
  });

  test('the environment that a project may see is there', async () => {
    const { PATH, HOME } = process.env;
    const hostEnv = { PATH, HOME, TZ: 'Asia/Tokyo', LC_ALL: 'C', CI: '1', TERM: 'xterm-256color' };
    const { text } = await open(makePlace(), mode, hostEnv);
    expect(await text('echo "$TZ $LC_ALL $CI $TERM $TMPDIR $LANG"')).toBe(
      'Asia/Tokyo C 1 xterm-256color /tmp C.UTF-8\n',
    );
    const { TERM: _, ...inWorkflow } = hostEnv;
    expect(await (await open(makePlace(), mode, inWorkflow)).text('env')).not.toContain('TERM=');
    expect(await text('cd && touch x && [ "$HOME" = "$(pwd)" ] && echo home')).toBe('home\n');
  });

  test('commands speak English on a machine of another language, with its character set', async () => {
    const languageIn = async (locale: Record<string, string>) => {
      const { text } = await open(makePlace(), mode, { PATH: process.env.PATH, ...locale });
      return text('echo "$LANG $LC_ALL $LANGUAGE"; cat /missing 2>&1 || true');
    };
    const missing = 'cat: /missing: No such file or directory';
    expect(await languageIn({ LANG: 'de_DE.UTF-8' })).toBe(`de_DE.UTF-8  en\n${missing}\n`);
    expect(await languageIn({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' })).toBe(`de_DE.UTF-8 C \n${missing}\n`);
    expect(await languageIn({ LANGUAGE: 'de' })).toBe(`C.UTF-8  \n${missing}\n`);
  });

  test("git works in the tree and leaves the user's repository as it was", async () => {
    const place = makePlace();
    const { root, text } = await open(place, mode);
    const before = snapshot(root);
    const told = await text(`
      git status --porcelain && git log --format=%s && git mv hello.txt moved.txt && git commit --quiet --message Moved
      echo more >> moved.txt && git stash --quiet && cat moved.txt && git stash pop --quiet && cat moved.txt
      git log --format='%s by %an' && git branch other && git cat-file -p HEAD~1:hello.txt`);
    expect(told).toBe('Start\nhello\nhello\nmore\nMoved by patchsmith\nStart by a\nhello\n');
    expect(snapshot(root)).toEqual(before);
    expect(readdirSync(root)).toEqual(['.git', 'moved.txt']);
  });

  test('works below a folder with blanks, quotes and letters of any script', async () => {
    const { root, text } = await open(makePlace(`it's "a" répo`), mode);
    expect(await text('pwd; git status --porcelain; git log --format=%s')).toBe(`${root}\nStart\n`);
  });
});

/** Every file of the real git dir with its content. */
function snapshot(root: string): Record<string, string> {
  const folder = join(root, '.git');
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'latin1')]),
  );
}
