/** Every command line, flag, variable, key and input that README and docs/ show is accepted by what is built. */

import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ClaudeServer, startClaudeServer } from '../../support/claude-server/server.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { MANIFEST, runAction } from '../../support/jobs/action-runner.ts';
import { done, edit, oneJob, place } from '../../support/jobs/publishing-job.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { KEY } from '../../support/runs/scripted-run.ts';
import {
  blocksOf,
  inlineCode,
  PAGES,
  type SettingRow,
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
    ...{ COMMAND: 'run', CODE: 'ERR_NO_TASK', NAME: 'comment', '../work': '.' },
  };

  /** What is not here: keys, a token, the vendors, and a run that has stopped. */
  const LACKS =
    /\[ERR_(?:NO_KEY|NO_TOKEN|NO_REPOSITORY_NAME|NOT_RESUMABLE|PROVIDER_\w+|LIMIT_\w+|GITHUB_\w+)\]|blocked \(exit 5\)|deadline \(exit 124\)/;

  /** The name of a command in a sentence is no command line. The demo has tests of its own. */
  function typed(args: readonly string[]): string[] {
    const [command = ''] = args;
    const isName = args.length === 1 && ['resume', 'run', 'check', 'completion'].includes(command);
    if (isName || command === 'demo') return ['help', command];
    const words = args.filter((word, at) => word !== '…' || at > 1);
    return words.map((word) => STAND_INS[word] ?? word).map((word) => (word === 'RUN' ? runDir : word));
  }

  /** What is around a line: no wait for vendors that are not here, and the variables that it names. */
  const around = (args: readonly string[]) => ({
    PATCHSMITH_SANDBOX: /--(?:attempts|setup-env)/.test(args.join()) ? 'auto' : 'off',
    ...{ PATCHSMITH_OUTAGE_WAIT: '1s', PATCHSMITH_DEADLINE: '10s' },
    ...{ NPM_TOKEN: 'an-example-0123456789', GATEWAY_TOKEN: 'an-example-0123456789' },
  });

  test('each is carried out or lacks only what is not here', async () => {
    const shown = shownCommands();
    expect(shown.length).toBeGreaterThan(60);
    const wrong: unknown[] = [];
    for (const { at, env, args } of shown) {
      const cwd = args[0] === 'init' ? (await makeRepository(FILES)).root : root;
      const [exitCode, printed] = await given(typed(args), { ...around(args), ...env }, cwd);
      if (mistakesIn(printed).length > 0 || (exitCode !== 0 && !LACKS.test(printed)))
        wrong.push([at, exitCode, printed.trim().split('\n').slice(-3)]);
    }
    expect(wrong).toEqual([]);
  });
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
    'max-messages': '90',
    'run-dir': '/tmp/a-run',
    'no-tools': 'search',
  },
  ...{ 'provider-command': '/bin/true', 'provider-env': 'GATEWAY_TOKEN', 'setup-env': 'NPM_TOKEN' },
  ...{ 'mcp-config': 'mcp.json', recording: 'script.yml', 'output-schema': 'findings.json' },
  ...{ 'max-total-size': '5g', 'max-disk': '5g', 'max-memory': '2g', 'fix-rounds': '9' },
};

function valueOf({ flag, value }: Pick<SettingRow, 'flag' | 'value'>): string {
  const first = /^[a-z-]+\|/.test(value) ? value.split('|')[0] : VALUES[value];
  return OWN[flag] ?? first ?? (value === '' ? 'true' : `no example of ${value}`);
}

/** Without which a setting has no effect. */
const BESIDES: Readonly<Record<string, Record<string, string>>> = {
  recording: { PATCHSMITH_PROVIDER: 'replay' },
  'provider-command': { PATCHSMITH_PROVIDER: 'command' },
  'provider-env': { PATCHSMITH_PROVIDER: 'command', PATCHSMITH_PROVIDER_COMMAND: '/bin/true' },
};

/** What `config` says of a setting that was given in one way. */
async function sourceOf(
  { flag }: SettingRow,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const [, printed] = await given(['config', '--json', ...args], { ...BESIDES[flag], ...env });
  const json = /^\{.*/ms.exec(printed)?.[0] ?? '{}';
  const { settings } = JSON.parse(json) as { settings?: { name: string; from: string }[] };
  if (settings === undefined) return printed;
  return settings.find(({ name }) => name === flag)?.from ?? 'unknown';
}

describe('of the settings, each is accepted', () => {
  const rows = settingRows();

  test('as a flag', async () => {
    const wrong: unknown[] = [];
    for (const row of rows) {
      const from = await sourceOf(
        row,
        row.value === '' ? [`--${row.flag}`] : [`--${row.flag}`, valueOf(row)],
      );
      if (from !== 'flag') wrong.push([row.flag, from.slice(0, 300)]);
    }
    expect(wrong).toEqual([]);
  });

  test('as a variable', async () => {
    const wrong: unknown[] = [];
    for (const row of rows) {
      const from = await sourceOf(row, [], { [row.variable]: valueOf(row) });
      if (from !== 'environment') wrong.push([row.variable, from.slice(0, 300)]);
    }
    expect(wrong).toEqual([]);
  });

  test('as a key of .patchsmith.yml, where the page says so', async () => {
    const wrong: unknown[] = [];
    for (const row of rows) {
      const value = /^[\w]+$/.test(valueOf(row)) ? valueOf(row) : JSON.stringify(valueOf(row));
      writeFileSync(join(root, '.patchsmith.yml'), `${row.flag}: ${value}\n`);
      const from = await sourceOf(row, []);
      if (!AS_KEY[row.inProjectFile]?.test(from))
        wrong.push([row.flag, row.inProjectFile, from.slice(0, 300)]);
    }
    rmSync(join(root, '.patchsmith.yml'));
    expect(wrong).toEqual([]);
  });
});

/** What comes of a key, by what the page says of it. Servers have to be committed; a limit is only read from there if lower. */
const AS_KEY: Readonly<Record<string, RegExp>> = {
  yes: /^file$|ERR_MCP_/,
  no: /ERR_NOT_FOR_PROJECT_FILE/,
  'only lower': /^(?:file|default)$|ERR_NOT_FOR_PROJECT_FILE/,
  'only fewer': /^(?:file|default)$|ERR_NOT_FOR_PROJECT_FILE/,
};

describe('of the flags in the text,', () => {
  /** Of other programs, and in place of any flag. */
  const FOREIGN = [
    'security-opt',
    'prefix',
    'directory',
    'disable-userns',
    'allow-empty',
    '3way',
    'quick',
    'only',
    'flag',
  ];
  const rows = new Map(settingRows().map((row) => [row.flag, row]));
  const COMMANDS =
    'run check prepare publish replay resume undo blame runs show report usage clean config init demo';

  test('every one is taken by a command, with the value that is shown', async () => {
    const ofCommands = new Set<string>(['version', ...FOREIGN]);
    for (const command of COMMANDS.split(' ')) {
      const [, help] = await given(['help', command]);
      for (const [, flag = ''] of help.matchAll(/^ +(?:-\w, )? ?--([\w-]+)/gm)) ofCommands.add(flag);
    }
    const wrong: unknown[] = [];
    for (const [page, text] of PAGES)
      for (const code of new Set(inlineCode(text))) {
        const [, flag = '', value = ''] = /^--([\w-]+)(?:[ =](.*))?$/.exec(code) ?? [];
        if (flag === '') continue;
        if (!ofCommands.has(flag)) wrong.push([page, code]);
        const row = rows.get(flag);
        if (row === undefined || !/^'?[a-z0-9_.,:/*-]+'?$/.test(value)) continue;
        const from = await sourceOf(row, [`--${flag}`, value.replaceAll("'", '')]);
        if (from !== 'flag') wrong.push([page, code, from.slice(0, 300)]);
      }
    expect(wrong).toEqual([]);
  });

  test.each(['run', 'check', 'prepare', 'publish', 'replay', 'resume', 'clean', 'usage'])(
    '%s takes all that its help lists',
    async (command) => {
      const [, help] = await given(['help', command]);
      const listed = [...help.matchAll(/^ +(?:-\w, )? ?--([\w-]+)/gm)].flatMap(
        ([, flag = '']) => rows.get(flag) ?? [],
      );
      expect(listed.length).toBeGreaterThan(0);
      const flags = listed.flatMap((row) =>
        row.value === ''
          ? [`--${row.flag}`]
          : [`--${row.flag}`, row.flag === 'output' ? 'json' : valueOf(row)],
      );
      const others = command === 'run' || command === 'check' ? ['--publish'] : [];
      const operands = ['publish', 'replay', 'resume'].includes(command) ? [runDir] : [];
      const [, printed] = await given([command, ...operands, ...flags, ...others]);
      expect(printed).not.toMatch(/ERR_(?:UNKNOWN_\w+|FLAG_\w+|INVALID_VALUE|UNEXPECTED_WORD|BUG)/);
    },
  );
});

test('every variable in the text is known', async () => {
  const wrong: string[] = [];
  const named = new Set([...PAGES.values()].flatMap((text) => text.match(/\bPATCHSMITH_[A-Z_]+\b/g) ?? []));
  for (const name of named) {
    const [, printed] = await given(['config'], { [name]: 'x' });
    if (printed.includes('ERR_UNKNOWN_VARIABLE')) wrong.push(name);
  }
  expect(wrong).toEqual([]);
});

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number | boolean>>;
}

/** The steps of the action in a text of YAML, and those in which it is named. */
function stepsIn(value: unknown): Step[] {
  if (value === null || typeof value !== 'object') return [];
  const own = 'uses' in value && /^OWNER\/patchsmith@/.test(String(value.uses)) ? [value as Step] : [];
  return [...own, ...Object.values(value).flatMap(stepsIn)];
}

describe('of the action,', () => {
  const templates = readdirSync('docs/workflows').flatMap((name) =>
    name.endsWith('.yml') ? [`docs/workflows/${name}`] : [],
  );
  const texts = [
    ...[...PAGES].flatMap(([page, text]) => blocksOf(text, 'yaml').map((block) => [page, block] as const)),
    ...templates.map((path) => [path, readFileSync(path, 'utf8')] as const),
  ];
  const rows = new Map(settingRows().map((row) => [row.flag, row]));

  /** As an expression of GitHub would fill it in. */
  const filledIn = (name: string, value: unknown) => {
    const text = String(value);
    const row = rows.get(name === 'plan-file' ? 'plan' : name);
    if (!text.includes('${{')) return text;
    return row === undefined ? 'an-example-0123456789' : valueOf(row);
  };

  test('each step that is shown is accepted', async () => {
    const wrong: unknown[] = [];
    let steps = 0;
    for (const [page, text] of texts)
      for (const { with: inputs = {} } of stepsIn(parse(text))) {
        steps += 1;
        const given = Object.fromEntries(
          Object.entries(inputs).map(([name, value]) => [name, filledIn(name, value)]),
        );
        for (const name of Object.keys(given))
          if (!Object.hasOwn(MANIFEST.inputs, name)) wrong.push([page, name]);
        const { stderr } = await runAction({ workspace: temporaryFolder(), inputs: given });
        const mistakes = stderr.match(
          /ERR_(?:UNKNOWN_\w+|INPUT_NOT_TAKEN|INVALID_VALUE|SETTING\w+|BUG)[^\n]*/g,
        );
        if (mistakes !== null) wrong.push([page, given, mistakes]);
      }
    expect(wrong).toEqual([]);
    expect(steps).toBeGreaterThan(10);
  });

  test('each input of action.yml is taken in one of its modes, with a value of its kind', async () => {
    const inputs = Object.fromEntries(
      Object.keys(MANIFEST.inputs).flatMap((name) =>
        name === 'mode'
          ? []
          : [
              [
                name,
                valueOf(rows.get(name === 'plan-file' ? 'plan' : name) ?? { flag: name, value: 'TEXT' }),
              ],
            ],
      ),
    );
    const modes = ['run', 'resume', 'publish', 'prepare', 'run-and-publish', 'locate'];
    let left = Object.keys(inputs);
    for (const mode of modes) {
      const { stderr } = await runAction({
        workspace: root,
        inputs: { ...inputs, 'sandbox-setup': 'off', mode },
      });
      expect(stderr).not.toMatch(/ERR_(?:UNKNOWN_\w+|INVALID_VALUE|BUG)[^\n]*/);
      left = left.filter((name) => stderr.includes(`[ERR_INPUT_NOT_TAKEN] ${name}:`));
    }
    expect(left).toEqual([]);
  });

  test('each output of action.yml is written, and each that is read exists', async () => {
    const at = await place([edit, done]);
    const { outputs } = await oneJob(at);
    const located = await runAction({
      workspace: root,
      env: at.env,
      token: at.token,
      inputs: { mode: 'locate' },
    });
    const prepared = await runAction({
      workspace: root,
      env: at.env,
      token: at.token,
      inputs: { mode: 'prepare', 'plan-file': 'plans/deps.md' },
    });
    const written = { ...outputs, ...located.outputs, ...prepared.outputs };
    expect(Object.keys(MANIFEST.outputs).filter((name) => !Object.hasOwn(written, name))).toEqual([]);
    for (const [page, text] of texts)
      for (const { id } of stepsIn(parse(text)))
        for (const [, name = ''] of text.matchAll(
          new RegExp(`steps\\.${id ?? '-'}\\.outputs\\.([\\w-]+)`, 'g'),
        ))
          expect([page, name, Object.hasOwn(MANIFEST.outputs, name)]).toEqual([page, name, true]);
  });
});
