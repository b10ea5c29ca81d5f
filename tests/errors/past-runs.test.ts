import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { lockRun } from '../../src/adapters/storage/run-lock.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';
import { git, tempFolder } from '../support/files/temp-folder.ts';
import { sourcesHere } from '../support/runs/from-sources.ts';

interface Past {
  readonly root: string;
  readonly runDir: string;
  /** Ends with the code, or with the whole of stderr where there is none. */
  readonly codeOf: (args: readonly string[], cwd?: string) => Promise<string>;
}

/** Its run directory is copied for each test. */
let shared: Past;
beforeAll(async () => {
  shared = await pastRun();
});

function copied(): Past {
  const runDir = join(tempFolder(), 'run');
  cpSync(shared.runDir, runDir, { recursive: true });
  return { ...shared, runDir };
}

/** A checkout with a run that made b.txt. */
async function pastRun(env: Readonly<Record<string, string>> = {}): Promise<Past> {
  const write = { name: 'write_file', input: { path: 'b.txt', content: 'b\n' } };
  const finish = { name: 'finish', input: { status: 'done', summary: 'Made.' } };
  const script = [write, finish].map((call) => `${JSON.stringify({ calls: [call] })}\n`).join('');
  const place = temporaryFolder();
  writeFileSync(join(place, 'script.jsonl'), script);
  const { root } = await makeRepository({ 'a.txt': 'a\n' });
  const runDir = join(place, 'run');
  const cli = (args: readonly string[], cwd = root) =>
    sourcesHere(args, {
      cwd,
      env: { PATH: process.env.PATH, HOME: place, ANTHROPIC_API_KEY: 'sk-ant-test-0123456789', ...env },
    });
  const played = ['--provider', 'replay', '--recording', join(place, 'script.jsonl'), '--sandbox', 'off'];
  const made = await cli(['run', '-m', 'x', ...played, '--run-dir', runDir]);
  expect(made.exitCode, made.stderr).toBe(0);
  return {
    root,
    runDir,
    async codeOf(args, cwd) {
      const { stderr } = await cli(args, cwd);
      return /\[(ERR_[A-Z_]+)\]: .*\n$/.exec(stderr)?.[1] ?? stderr;
    },
  };
}

test.each<[string, (past: Past) => Promise<string>]>([
  ['ERR_NOT_IN_PATCH', ({ codeOf, runDir }) => codeOf(['blame', runDir, 'nothing.txt'])],
  ['ERR_NOT_RESUMABLE', ({ codeOf, runDir }) => codeOf(['resume', runDir])],
  [
    'ERR_OTHER_CHECKOUT',
    ({ codeOf, runDir }) => {
      const other = tempFolder();
      git(other, 'init', '-q');
      return codeOf(['undo', runDir], other);
    },
  ],
  [
    'ERR_UNDO_CONFLICT',
    ({ codeOf, runDir, root }) => {
      writeFileSync(join(root, 'b.txt'), 'of a person\n');
      return codeOf(['undo', runDir]);
    },
  ],
  [
    'ERR_PATCH_UNREADABLE',
    ({ codeOf, runDir }) => {
      writeFileSync(join(runDir, 'changes.patch'), 'another\n');
      return codeOf(['blame', runDir]);
    },
  ],
  [
    'ERR_RESULT_UNREADABLE',
    ({ codeOf, runDir }) => {
      writeFileSync(join(runDir, 'result.json'), '{}');
      return codeOf(['report', runDir]);
    },
  ],
  [
    'ERR_JOURNAL_UNREADABLE',
    ({ codeOf, runDir }) => {
      writeFileSync(join(runDir, 'events.jsonl'), 'x\n');
      return codeOf(['undo', runDir]);
    },
  ],
  [
    'ERR_NOT_REPLAYABLE',
    ({ codeOf, runDir }) => {
      const lines = readFileSync(join(runDir, 'events.jsonl'), 'utf8').trimEnd().split('\n');
      writeFileSync(join(runDir, 'events.jsonl'), `${lines.slice(0, -1).join('\n')}\n`);
      return codeOf(['replay', runDir, '--sandbox', 'off']);
    },
  ],
  [
    'ERR_RECORDED_TOOLS',
    ({ codeOf, runDir }) => {
      const journal = join(runDir, 'events.jsonl');
      writeFileSync(journal, readFileSync(journal, 'utf8').replace('"ownTools":[]', '"ownTools":["ask"]'));
      return codeOf(['replay', runDir, '--sandbox', 'off']);
    },
  ],
  [
    'ERR_RUN_BUSY',
    async ({ codeOf, runDir }) => {
      const letGo = await lockRun(runDir);
      const code = await codeOf(['undo', runDir]);
      letGo?.();
      return code;
    },
  ],
  [
    'ERR_REPORT_UNWRITTEN',
    async ({ codeOf, runDir }) => {
      rmSync(join(runDir, 'report.html'));
      await mkdir(join(runDir, 'report.html/in-the-way'), { recursive: true });
      return codeOf(['report', runDir]);
    },
  ],
])('%s', async (code, provoke) => {
  expect(await provoke(copied())).toBe(code);
});

test('ERR_NO_BROWSER', async () => {
  const { codeOf, runDir } = await pastRun({ PATH: tempFolder() });
  expect(await codeOf(['report', runDir, '--open'])).toBe('ERR_NO_BROWSER');
});

test('ERR_RUN_UNTRUSTED', async () => {
  const { codeOf, runDir } = await pastRun({ GITHUB_TOKEN: 'ghp_0123456789' });
  writeFileSync(join(runDir, 'result.json'), '{}');
  expect(await codeOf(['publish', runDir, '--repository', 'a/b'])).toBe('ERR_RUN_UNTRUSTED');
});

test('the code of a run is in its result', async () => {
  const { codeOf, root } = shared;
  const runDir = join(tempFolder(), 'run');
  const recording = join(tempFolder({ 'none.jsonl': '{"text": "Nothing to do."}\n' }), 'none.jsonl');
  const code = await codeOf(
    ['run', '-m', 'x', '--provider', 'replay', '--recording', recording, '--sandbox', 'off'].concat([
      '--if-no-changes',
      'error',
      '--run-dir',
      runDir,
    ]),
    root,
  );
  const { errorCode } = JSON.parse(readFileSync(join(runDir, 'result.json'), 'utf8')) as {
    errorCode: string;
  };
  expect([code, errorCode]).toEqual(['ERR_NO_CHANGE', 'ERR_NO_CHANGE']);
});
