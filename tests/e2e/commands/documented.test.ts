/** Every command line, flag, variable, key and input that README and docs/ show is accepted by what is built. */

import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { done, edit } from '../../support/jobs/publishing-job.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { KEY } from '../../support/runs/scripted-run.ts';
import { IS_FULL } from '../../support/setup/sample.ts';
import {
  inlineCode,
  PAGES,
  type SettingRow,
  type Shown,
  settingRows,
  shownCommands,
} from '../../support/text/documented.ts';

/** What is wrong about a line itself, whatever is or is not on the machine. */
const MISTAKE =
  /\[ERR_(?:UNKNOWN_\w+|INVALID_VALUE|FLAG_\w+|OPERAND_MISSING|UNEXPECTED_WORD|NOT_FOR_PROJECT_FILE|PROJECT_FILE_\w+|SETTING\w+|INPUT_\w+|PLAN_\w+|NO_COMMAND|NO_TASK|BUG|MCP_\w+|PRICE_\w+)\][^\n]*/g;

const FILES = {
  'a.txt': 'a\n',
  'plan.md': '# Change a file\n\nDo it.\n',
  'script.yml': '- text: Done.\n',
  'findings.json': '{"type":"object","properties":{}}',
  'mcp.json': '{"mcpServers":{}}',
  'package.json': '{"scripts":{"test":"true"}}',
  'package-lock.json': '{"lockfileVersion":3}',
  'plans/deps.md': '# Change a file\n\nDo it.\n',
};

let server: ClaudeServer;
let root: string;
let home: string;
let runDir: string;

beforeAll(async () => {
  server = await startClaudeServer({ turns: (_, index) => (index % 2 === 0 ? edit : done), apiKey: KEY });
  home = temporaryFolder();
  ({ root } = await makeRepository(FILES));
  runDir = join(home, 'run');
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/xdg-open'), '#!/bin/sh\n');
  chmodSync(join(home, 'bin/xdg-open'), 0o755);
  const first = ['run', '-m', 'Do it', '--run-dir', runDir, '--sandbox', 'off'];
  expect(await given(first)).toEqual([0, expect.stringContaining('patchsmith: done')]);
});
afterAll(async () => {
  await server.close();
  removeFolders();
});

/** Carries out a command line: the exit code and all that was printed. */
async function given(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = root,
): Promise<[exitCode: number, printed: string]> {
  const { exitCode, stdout, stderr } = await cliHere(args, {
    cwd,
    env: {
      PATH: `${join(home, 'bin')}:${process.env.PATH}`,
      HOME: home,
      XDG_STATE_HOME: join(home, 'state'),
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: server.url,
      ...env,
    },
    input: 'Do it',
  });
  return [exitCode, `${stderr}${stdout}`];
}

const mistakesIn = (printed: string) => printed.match(MISTAKE) ?? [];

describe('of the commands that are shown,', () => {
  /** In the place of which a reader writes something. */
  const STAND_INS: Readonly<Record<string, string>> = {
    ...{ '[RUN]': 'RUN', 'RUN/attempts/2': 'RUN', '[PATH]': 'a.txt', '[--open]': '--open' },
    ...{ COMMAND: 'run', CODE: 'ERR_NO_TASK', NAME: 'plans', '../work': '.' },
    'corp/patchsmith@COMMIT': `corp/patchsmith@${'1'.repeat(40)}`,
  };

  /** What is not here: keys, a token, a release, the vendors, and a run that has stopped. */
  const LACKS =
    /\[ERR_(?:NO_KEY|NO_RELEASE|NO_TOKEN|NO_REPOSITORY_NAME|NOT_RESUMABLE|PROVIDER_\w+|LIMIT_\w+|GITHUB_\w+)\]|blocked \(exit 5\)|deadline \(exit 124\)/;

  /** The name of a command in a sentence is no command line. The demo has tests of its own. */
  function typed({ at, args }: Pick<Shown, 'at' | 'args'>): string[] {
    const [command = ''] = args;
    const isName = args.length === 1 && ['resume', 'run', 'check', 'completion'].includes(command);
    if (isName || command === 'demo') return ['help', command];
    const words = args.filter((word, at) => word !== '…' || at > 1);
    const line = words.map((word) => STAND_INS[word] ?? word).map((word) => (word === 'RUN' ? runDir : word));
    // By day, only those of README are carried out; of the others the settings are resolved.
    const isResolved = command === 'run' && !IS_FULL && !at.startsWith('README');
    return isResolved ? [...line, '--print-config'] : line;
  }

  /** What is around a line: no wait for vendors that are not here, and the variables that it names. */
  const around = (args: readonly string[]) => ({
    PATCHSMITH_SANDBOX: /--(?:attempts|setup-env)/.test(args.join()) ? 'auto' : 'off',
    ...{ PATCHSMITH_OUTAGE_WAIT: '1s', PATCHSMITH_DEADLINE: '30s' },
    ...{ NPM_TOKEN: 'an-example-0123456789', GATEWAY_TOKEN: 'an-example-0123456789' },
  });

  test('each is carried out or lacks only what is not here', async () => {
    const shown = shownCommands();
    expect(shown.length).toBeGreaterThan(60);
    const wrong: unknown[] = [];
    for (const { at, env, args } of shown) {
      const cwd = args[0] === 'init' ? (await makeRepository(FILES)).root : root;
      const [exitCode, printed] = await given(typed({ at, args }), { ...around(args), ...env }, cwd);
      if (mistakesIn(printed).length > 0 || (exitCode !== 0 && !LACKS.test(printed)))
        wrong.push([at, exitCode, printed.trim().split('\n').slice(-3)]);
    }
    expect(wrong).toEqual([]);
  });
});

const OTHER_PROGRAM = /(?:^|[ /(])(?:git|npm|npx|docker|node|bwrap|uv|yarn|pnpm|cargo|pip|bundle)\b/;
/** Flags of other programs that are named alone, of the benchmark, and the one that stands for any. */
const OF_OTHERS = [
  ...['--security-opt', '--prefix', '--directory', '--disable-userns', '--allow-empty', '--check'],
  ...['--quick', '--only', '--flag'],
];

test('every flag that running text names is one of some command', async () => {
  const [, overview] = await given(['help']);
  const commands = new Set(
    [...overview.matchAll(/^ {2}patchsmith ([a-z]+) /gm)].map(([, name = '']) => name),
  );
  expect(commands).toContain('publish');
  const helps = await Promise.all([...commands].map((name) => given(['help', name])));
  const known = new Set([
    '--version',
    ...OF_OTHERS,
    ...helps.flatMap(([, text]) => text.match(/--[a-z][\w-]*/g) ?? []),
  ]);
  const wrong = [...PAGES].flatMap(([page, text]) =>
    inlineCode(text)
      .filter((code) => !OTHER_PROGRAM.test(code))
      .flatMap((code) => code.match(/(?<![\w-])--[a-z][\w-]*/g) ?? [])
      .filter((flag) => !known.has(flag))
      .map((flag) => `${page}: ${flag}`),
  );
  expect(wrong).toEqual([]);
});

/** A value of each kind, as the rows name them. */
const VALUES: Readonly<Record<string, string>> = {
  ...{
    FILE: 'plan.md',
    TEXT: 'Do it',
    'N|URL': '7',
    'ID|URL': '7',
    'PR|auto|never': '7',
    N: '9000',
    CMD: 'npm test',
  },
  ...{ GLOB: 'src/**', 'TOOL,…': 'read_file', HOST: 'docs.example.com', 'NAME=COMMAND|URL': 'a=node a.mjs' },
  ...{
    DIR: '.',
    COMMIT: 'HEAD',
    ID: '123',
    '[PROVIDER/]ID': 'openai/gpt-5.4',
    NAME: 'npm',
    URL: 'https://a.example',
  },
  ...{ TIME: '90s', '[MODEL:]PRICES': 'input=2,output=10,cache-read=0.1,cache-write=2.5,cache-write-1h=4' },
  ...{
    USD: '2.5',
    SIZE: '4m',
    'PATH[:rw]': '/usr',
    DOMAIN: 'registry.npmjs.org',
    'HOST[:PORT]': 'registry:4873',
    'NAME=HOST:PORT': 'postgres=localhost:5432',
  },
  ...{
    PATH: 'node_modules',
    AGE: '14d',
    'AGE|DATE': '2026-11-01',
    'OWNER/NAME': 'octo/shop',
    BRANCH: 'main',
  },
  ...{ 'NAME <EMAIL>': 'A <a@b.example>', LOGIN: 'octocat', '[ORG/]SLUG': 'octo/team', 'NUMBER|TITLE': '7' },
};

/** Where another value of that kind is needed. */
const OWN: Readonly<Record<string, string>> = {
  ...{
    attempts: '3',
    model: 'claude-opus-5-5',
    'run-dir': '/tmp/a-run',
    'no-tools': 'search',
  },
  ...{ 'setup-env': 'NPM_TOKEN' },
  ...{ 'mcp-config': 'mcp.json', recording: 'script.yml', 'output-schema': 'findings.json' },
  ...{ 'max-total-size': '5g', 'max-disk': '5g', 'max-memory': '2g', 'fix-rounds': '9' },
};

function exampleOf({ flag, value }: Pick<SettingRow, 'flag' | 'value'>): string {
  const first = /^[a-z-]+\|/.test(value) ? value.split('|')[0] : VALUES[value];
  // Asked for an issue, it answers at once that there is none.
  if (flag === 'github-api-url') return server.url;
  return OWN[flag] ?? first ?? (value === '' ? 'true' : `no example of ${value}`);
}

/** Without which a setting has no effect. */
const BESIDES: Readonly<Record<string, Record<string, string>>> = {
  recording: { PATCHSMITH_PROVIDER: 'replay' },
};

type Ways = (rows: readonly SettingRow[]) => { args?: string[]; env?: Record<string, string> };

/**
 * Where `config` says that each of these settings comes from when they are given together, or what it says instead of one that is
 * given alone. Settings that exclude each other are given apart.
 */
async function sourcesOf(rows: readonly SettingRow[], ways: Ways): Promise<[flag: string, from: string][]> {
  const { args = [], env = {} } = ways(rows);
  const besides = Object.assign({}, ...rows.map(({ flag }) => BESIDES[flag]));
  const [, printed] = await given(['config', '--json', ...args], { ...besides, ...env });
  const json = /^\{.*/ms.exec(printed)?.[0] ?? '{}';
  const { settings } = JSON.parse(json) as { settings?: { name: string; from: string }[] };
  if (settings !== undefined) {
    const fromOf = new Map(settings.map(({ name, from }) => [name, from]));
    const sources: [string, string][] = [];
    for (const row of rows) {
      const from = fromOf.get(row.flag) ?? 'unknown';
      // Another one may have taken its place, as a provider with a base URL of its own.
      const isTaken = from === 'default' && rows.length > 1;
      sources.push(...(isTaken ? await sourcesOf([row], ways) : [[row.flag, from] as [string, string]]));
    }
    return sources;
  }
  if (rows.length === 1) return rows.map(({ flag }) => [flag, printed.slice(0, 300)]);
  const half = Math.ceil(rows.length / 2);
  return [...(await sourcesOf(rows.slice(0, half), ways)), ...(await sourcesOf(rows.slice(half), ways))];
}

describe('of the settings, each is accepted', () => {
  const rows = settingRows();

  test('as a flag', async () => {
    const sources = await sourcesOf(rows, (some) => ({
      args: some.flatMap((row) => (row.value === '' ? [`--${row.flag}`] : [`--${row.flag}`, exampleOf(row)])),
    }));
    expect(sources.filter(([, from]) => from !== 'flag')).toEqual([]);
  });

  test('as a variable', async () => {
    const sources = await sourcesOf(rows, (some) => ({
      env: Object.fromEntries(some.map((row) => [row.variable, exampleOf(row)])),
    }));
    expect(sources.filter(([, from]) => from !== 'environment')).toEqual([]);
  });

  test('as a key of .patchsmith.yml, where the page says so', async () => {
    const inFile: Ways = (some) => {
      const lines = some.map((row) => {
        const value = /^\w+$/.test(exampleOf(row)) ? exampleOf(row) : JSON.stringify(exampleOf(row));
        return `${row.flag}: ${value}\n`;
      });
      writeFileSync(join(root, '.patchsmith.yml'), lines.join(''));
      return {};
    };
    const sources = await sourcesOf(
      rows.filter(({ inProjectFile }) => inProjectFile === 'yes'),
      inFile,
    );
    for (const row of rows.filter(({ inProjectFile }) => inProjectFile !== 'yes'))
      sources.push(...(await sourcesOf([row], inFile)));
    rmSync(join(root, '.patchsmith.yml'));
    const said = new Map(rows.map(({ flag, inProjectFile }) => [flag, inProjectFile]));
    expect(sources.filter(([flag, from]) => !AS_KEY[said.get(flag) ?? '']?.test(from))).toEqual([]);
  });
});

/** What comes of a key, by what the page says of it. Servers have to be committed; a limit is only read from there if lower. */
const AS_KEY: Readonly<Record<string, RegExp>> = {
  yes: /^file$|ERR_MCP_/,
  no: /ERR_NOT_FOR_PROJECT_FILE/,
  'only `required`': /^file$/,
  'only lower': /^(?:file|default)$|ERR_NOT_FOR_PROJECT_FILE/,
  'only fewer': /^(?:file|default)$|ERR_NOT_FOR_PROJECT_FILE/,
};
