import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { git, tempFolder } from '../../support/files/temp-folder.ts';
import { CLI, runCli } from '../../support/runs/cli.ts';
import { until } from '../../support/waiting/until.ts';

const KEY = 'sk-ant-test-0123456789';
const COMMANDS = [
  ...['run', 'check', 'prepare', 'publish', 'replay', 'resume', 'undo', 'blame', 'runs', 'show', 'report'],
  ...['usage', 'outcomes', 'clean', 'config', 'doctor', 'init', 'completion', 'demo'],
];
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

/** `told` begins with its code. */
const refusal = (reported: string) => {
  const lastLine = `patchsmith: usage_error (exit 2) ${reported.replace('] ', ']: ')}`;
  return { exitCode: 2, stdout: '', stderr: `${lastLine}\n`, lastLine };
};

const refusals = (...problems: string[]) => {
  const lastLine = `patchsmith: usage_error (exit 2) [ERR_SEVERAL_PROBLEMS]: ${problems.length} problems, listed above; patchsmith --help lists the commands`;
  const lines = problems.map((problem) => `  ${problem}\n`).join('');
  return { exitCode: 2, stdout: '', stderr: `${lines}${lastLine}\n`, lastLine };
};

const said = (stdout: string) => ({ exitCode: 0, stdout, stderr: '', lastLine: '' });

test('help names the commands, examples and exit codes', async () => {
  const help = await runCli(['help'], { cwd: tempFolder() });
  expect({ ...help, stdout: '' }).toEqual(said(''));
  const flat = help.stdout.replace(/\s+/g, ' ');
  const names = COMMANDS.map((name) => `patchsmith ${name} `);
  for (const part of [...names, 'Examples: patchsmith run -m', '124 deadline', 'help <command>'])
    expect(flat).toContain(part);
});

test.each([[['help', 'rum']], [['rum', '--help']]])(
  'help about a name that does not exist is a mistake: %j',
  async (words) => {
    const { exitCode, stdout, lastLine } = await runCli(words, { cwd: tempFolder() });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(lastLine).toContain('[ERR_UNKNOWN_COMMAND]');
    expect(lastLine).toContain('rum');
  },
);

test('without arguments the help is printed, a line for each command, and the exit code is 2', async () => {
  const cwd = tempFolder();
  const help = await runCli(['--help'], { cwd });
  for (const name of COMMANDS) expect(help.stdout).toMatch(new RegExp(`^  ${name} {2,}\\w`, 'm'));
  // In 80 columns, each says a whole thing.
  expect(help.stdout).not.toContain('…');
  const lastLine = 'patchsmith: usage_error (exit 2) [ERR_NO_COMMAND]: no command given';
  const bare = await runCli([], { cwd });
  expect(bare).toEqual({ exitCode: 2, stdout: '', stderr: `${help.stdout}\n${lastLine}\n`, lastLine });
});

test('help is as wide as the terminal, also through a pipe', async () => {
  const cwd = tempFolder();
  const widest = async (env: Record<string, string>, ...words: string[]) => {
    const { stdout } = await runCli(words.length > 0 ? words : ['help', 'run'], { cwd, env });
    const isWhole = (line: string) => /^ {2}(?:patchsmith|gh) (?!.*\S {2})|^\s*\S+$/.test(line);
    const lines = stdout.split('\n').filter((line) => !isWhole(line));
    return Math.max(...lines.map((line) => line.length));
  };
  expect(await widest({})).toBeLessThanOrEqual(80);
  expect(await widest({ COLUMNS: '104' })).toBeGreaterThan(90);
});

test.each([['--help'], ...COMMANDS.map((name) => [name, '--help'])])(
  '%s %s is one screen, whatever the width, and says where the rest is',
  async (...words) => {
    for (const columns of [60, 80, 110]) {
      const { stdout, ...rest } = await runCli(words, { cwd: tempFolder(), env: { COLUMNS: `${columns}` } });
      expect({ ...rest, stdout: '' }).toEqual(said(''));
      const lines = stdout.trimEnd().split('\n');
      expect(lines.length).toBeLessThanOrEqual(24);
      // An example is whole, to be copied.
      const cut = lines.filter((line) => !/^ {2}(?:patchsmith|gh) /.test(line));
      expect(Math.max(...cut.map((line) => line.length))).toBeLessThanOrEqual(Math.max(columns, 76));
      expect(stdout).toContain('patchsmith help ');
    }
  },
);

test('--version prints the version and nothing else; it and --help load no client of the API and none of the run', async () => {
  const cwd = tempFolder();
  for (const flag of ['--help', '--version']) {
    const coverage = join(cwd, flag);
    const end = await runCli([flag], { cwd, env: { NODE_V8_COVERAGE: coverage }, built: true });
    if (flag === '--version') expect(end).toEqual(said(`${version}\n`));
    const loaded = readdirSync(coverage).flatMap((name) => scriptsIn(join(coverage, name)));
    expect(loaded.some((url) => url.endsWith('/dist/cli.js'))).toBe(true);
    expect(loaded.filter((url) => /anthropic|\/run-|\/demo-/.test(url))).toEqual([]);
  }
});

describe('a mistake on the command line is named, with exit 2:', () => {
  const lacking = [
    '[ERR_NO_TASK] there is no plan: pass --plan FILE, --plan - (stdin), --message TEXT or --plan-from-issue N',
    '[ERR_NO_KEY] ANTHROPIC_API_KEY is not set: set it in the environment, or in a .env in this folder that git does not track; patchsmith demo needs none',
  ];
  test.each<[string[], ReturnType<typeof refusal>]>([
    [['--quiet'], refusal(`[ERR_NO_COMMAND] no command given; expected one of: ${COMMANDS.join(', ')}`)],
    [['resume'], refusal('[ERR_OPERAND_MISSING] resume needs a RUN: patchsmith resume RUN')],
    [['rum'], refusal('[ERR_UNKNOWN_COMMAND] "rum": there is no such command; the nearest is run')],
    [['run'], refusals(...lacking)],
    [
      ['run', '--plan'],
      refusal('[ERR_FLAG_WITHOUT_VALUE] --plan: needs a value; where that begins with -, write --plan=VALUE'),
    ],
    [
      ['run', '-m', '--quiet'],
      refusal('[ERR_FLAG_WITHOUT_VALUE] -m: needs a value; where that begins with -, write -m=VALUE'),
    ],
    [
      ['run', '--modle', 'x', '-z', '--constructor=y'],
      refusals(
        '[ERR_UNKNOWN_FLAG] --modle: there is no such flag; the nearest is --model',
        '[ERR_UNKNOWN_FLAG] -z: there is no such flag; patchsmith help <command> shows them all',
        '[ERR_UNKNOWN_FLAG] --constructor: there is no such flag; patchsmith help <command> shows them all',
        ...lacking,
      ),
    ],
    [
      ['run', '-m', 'x', '--max-tokens', '5000'],
      refusals(
        '[ERR_UNKNOWN_FLAG] --max-tokens: there is no such flag; the nearest are --max-output-tokens and --max-total-tokens',
        ...lacking.slice(1),
      ),
    ],
    [
      ['run', '-m', 'x', '--no-quiet'],
      refusals(
        '[ERR_UNKNOWN_FLAG] --no-quiet: there is no such flag; the nearest is --quiet',
        ...lacking.slice(1),
      ),
    ],
    [
      ['run', '-m', 'a', 'b', '--', '--c'],
      refusals(
        '[ERR_UNEXPECTED_WORD] "b": does not belong to a flag; give the task with --message or --plan',
        '[ERR_UNEXPECTED_WORD] "--c": does not belong to a flag; give the task with --message or --plan',
        ...lacking.slice(1),
      ),
    ],
    [
      ['run', '-m', 'a', '-m', 'b', '--quiet=maybe', '--deadline', '-5'],
      refusals(
        '[ERR_INVALID_VALUE] --quiet: expected true, false or no value, got "maybe"',
        '[ERR_FLAG_REPEATED] --message: given 2 times',
        '[ERR_INVALID_VALUE] --deadline: expected a duration such as 90s, 30m or 1h (plain numbers are seconds), at most 500h, got "-5"',
      ),
    ],
    [
      ['run', '-m', 'a', '-m', 'b'],
      refusals('[ERR_FLAG_REPEATED] --message: given 2 times', ...lacking.slice(1)),
    ],
    [
      ['outcomes', '--repository', 'o/r'],
      refusal(
        '[ERR_NO_TOKEN] there is no token: set GITHUB_TOKEN in the environment, with pull-requests: read and issues: read',
      ),
    ],
    [['demo', '--model', 'x'], refusal('[ERR_FLAG_NOT_TAKEN] --model: demo takes no settings')],
    [['demo', '--force'], refusal('[ERR_FLAG_NOT_TAKEN] --force: demo has no such flag')],
    [
      ['undo', 'r', '--model', 'x', 'more', '--force=maybe'],
      refusals(
        '[ERR_UNEXPECTED_WORD] "more": does not belong to a flag',
        '[ERR_INVALID_VALUE] --force: expected true, false or no value, got "maybe"',
        '[ERR_FLAG_NOT_TAKEN] --model: undo takes no such setting, only --repo',
      ),
    ],
  ])('%j', async (args, expected) => {
    expect(await runCli(args, { cwd: tempFolder() })).toEqual(expected);
  });

  test('what is quoted cannot steer the terminal', async () => {
    const { stderr } = await runCli(['run', '--\u001b[2J\u202e\n=x', '\u009b31m'], { cwd: tempFolder() });
    expect(stderr).toContain('there is no such flag');
    expect(stderr).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
  });
});

test('mistakes in flags, variables and the project file are reported together', async () => {
  const cwd = tempFolder({ '.patchsmith.yml': 'deadline: 1h\nsandbox: off\n', 'a/x': '' });
  git(cwd, 'init', '-q');
  const env = { PATCHSMITH_EFORT: 'max', PATCHSMITH_SANDBOX: 'none', ANTHROPIC_API_KEY: KEY };
  expect(await runCli(['run', '-m', 'x', '--fix-rounds', 'two'], { cwd: join(cwd, 'a'), env })).toEqual(
    refusals(
      '[ERR_UNKNOWN_VARIABLE] PATCHSMITH_EFORT: there is no such variable; the nearest is PATCHSMITH_EFFORT',
      '[ERR_NOT_FOR_PROJECT_FILE] .patchsmith.yml:1: a project file may lower deadline below its default, not raise it; use --deadline or PATCHSMITH_DEADLINE',
      '[ERR_INVALID_VALUE] --fix-rounds: expected a whole number of at least 0, got "two"',
      '[ERR_INVALID_VALUE] PATCHSMITH_SANDBOX: expected one of required, auto, off, got "none"',
      '[ERR_NOT_FOR_PROJECT_FILE] .patchsmith.yml:2: a project file may only require the sandbox; use --sandbox or PATCHSMITH_SANDBOX',
    ),
  );
});

test('a plain price is not for a model that the project file chooses', async () => {
  const cwd = tempFolder({ '.patchsmith.yml': 'model: claude-opus-5-5\n' });
  git(cwd, 'init', '-q');
  const price = ['--price', 'input=1,output=1,cache-read=1,cache-write=1,cache-write-1h=1'];
  const { lastLine } = await runCli(['run', '-m', 'x', ...price], { cwd, env: { ANTHROPIC_API_KEY: KEY } });
  expect(lastLine).toContain('--price: .patchsmith.yml:1 chooses the model, so the price has to name');
});

test('a key in a .env that git tracks is not used, and the message says why', async () => {
  const cwd = tempFolder({ '.env': `ANTHROPIC_API_KEY=${KEY}\n` });
  git(cwd, 'init', '-q');
  git(cwd, 'add', '-Af');
  const end = await runCli(['run', '-m', 'x'], { cwd });
  expect(end).toEqual(
    refusals(
      `[ERR_NO_KEY] ${join(cwd, '.env')} is tracked by git, so its ANTHROPIC_API_KEY is not used: it may come from someone else.`,
      '[ERR_NO_KEY] ANTHROPIC_API_KEY is not set: set it in the environment, or in a .env in this folder that git does not track; patchsmith demo needs none',
    ),
  );
});

test('a closed stdout is not an error', async () => {
  const child = spawn(process.execPath, [CLI, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [exitCode] = await once(child, 'close');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
});

/** Starts a run that waits for its plan on stdin, and resolves when it has come that far. */
async function waitingRun(env: Record<string, string> = {}) {
  const cwd = tempFolder({ file: '' });
  const runDir = join(tempFolder(), 'run');
  git(cwd, 'init', '-q');
  const child = spawn(process.execPath, [CLI, 'run', '--plan', '-', '--run-dir', runDir], {
    cwd,
    env: { PATH: process.env.PATH, HOME: cwd, ANTHROPIC_API_KEY: KEY, ...env },
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const stderr = text(child.stderr);
  const ended = once(child, 'exit');
  await until('the run has begun', () => existsSync(join(runDir, 'result.json')));
  return { child, stderr, exitCode: ended.then(([code]) => code as number | null) };
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  '%s ends a run that waits for its plan, with exit code %i, and a second one at the latest',
  async (signal, code) => {
    const { child, exitCode } = await waitingRun();
    // Signals that come too close together are one.
    const again = setInterval(() => child.kill(signal), 200);
    expect(await exitCode.finally(() => clearInterval(again))).toBe(code);
  },
);

test('a crash ends with internal_error, what it was, and without the key', async () => {
  const crash = `data:text/javascript,process.on('SIGUSR2',()=>{throw Error('boom ${KEY}')})`;
  const { child, stderr, exitCode } = await waitingRun({ NODE_OPTIONS: `--import "${crash}"` });
  child.kill('SIGUSR2');
  expect(await exitCode).toBe(1);
  const lines = (await stderr).trimEnd().split('\n');
  expect(lines).toContain('  Error: boom ***');
  expect(lines.at(-1)).toMatch(/^patchsmith: internal_error \(exit 1\) \[ERR_BUG\]: .*report/);
  expect(lines.join()).not.toContain(KEY);
});

/** The addresses of all scripts that a process has loaded, from the coverage file it left. */
function scriptsIn(coverageFile: string): string[] {
  const { result } = JSON.parse(readFileSync(coverageFile, 'utf8')) as { result: { url: string }[] };
  return result.map(({ url }) => url);
}
