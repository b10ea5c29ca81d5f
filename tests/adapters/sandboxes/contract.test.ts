import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openLandlock } from '../../../src/adapters/sandboxes/landlock.ts';
import { openSandbox } from '../../../src/adapters/sandboxes/open.ts';
import type { SandboxOptions } from '../../../src/adapters/sandboxes/options.ts';
import type { CommandEnd } from '../../../src/domain/conversation/tool.ts';
import { git } from '../../support/files/temp-folder.ts';
import { oddSeconds, processesWith } from '../../support/machine/processes.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';
import { makePlace, open, placeOf } from './fixture.ts';

const exited = (exitCode: number): CommandEnd => ({
  exitCode,
  signal: null,
  timedOut: false,
  interrupted: false,
  durationMs: expect.any(Number),
});
const timedOut: CommandEnd = { ...exited(0), exitCode: null, timedOut: true };
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

  test('a strict script may be longer than an argument', async () => {
    const { run } = await open(makePlace(), mode);
    const long = `: ${'x'.repeat(110_000)}\nfalse | cat\ntrue`;
    expect((await run(long, { isStrict: true })).end).toEqual(exited(1));
  });

  test('a script whose own shell is killed does not look like success', async () => {
    const { end } = await (await open(makePlace(), mode)).run('kill -9 $$');
    expect(end.exitCode === 137 || end.signal === 'SIGKILL').toBe(true);
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

  test('a timeout that strikes while the command is still being started leaves nothing', async () => {
    const { run } = await open(makePlace(), mode);
    const seconds = oddSeconds();
    const limits = [0, 1, 2, 4, 6, 8, 10, 15];
    const results = await Promise.all(limits.map((timeoutMs) => run(`sleep ${seconds}`, { timeoutMs })));
    expect(results.map((result) => result.end)).toEqual(limits.map(() => timedOut));
    expect(processesWith(seconds)).toEqual([]);
  });

  test('a timeout longer than a timer can count does not fire at once', async () => {
    const { run } = await open(makePlace(), mode);
    expect((await run('sleep 0.1', { timeoutMs: 2 ** 40 })).end).toEqual(exited(0));
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

  test('works below a folder with blanks, quotes and letters of any script', async () => {
    const { root, text } = await open(makePlace(`it's "a" répo`), mode);
    expect(await text('pwd; git status --porcelain; git log --format=%s')).toBe(`${root}\nStart\n`);
  });
});

test.each(['required', 'landlock', 'off'] as const)(
  'a command whose working directory is gone says so, with sandbox %s',
  async (kind) => {
    const { root, runDir } = makePlace();
    if (kind === 'landlock') git(root, 'init', '--quiet', '--separate-git-dir', `${root}.git`);
    mkdirSync(join(root, 'work'));
    const options: SandboxOptions = {
      ...placeOf(root, runDir),
      mode: kind === 'off' ? 'off' : 'required',
      folder: 'work',
      scratchDir: join(runDir, 'scratch'),
      hostEnv: process.env,
    };
    const opened = await (kind === 'landlock' ? openLandlock(options, '') : openSandbox(options));
    if (opened.status !== 'ok') throw new Error(opened.reason);
    const { sandbox } = opened;
    onTestFinished(() => sandbox.close());
    const run = (script: string) =>
      sandbox.run({ script, timeoutMs: PATIENCE_MS, signal: new AbortController().signal });
    expect(await run('basename "$PWD"')).toEqual(said(exited(0), 'work\n'));
    rmSync(join(root, 'work'), { recursive: true });
    expect(await run('echo begun')).toEqual(
      said(exited(1), 'The working directory is gone, or is behind a link: work\n'),
    );
  },
);
