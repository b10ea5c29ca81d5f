/** Warnings that no other test meets on its way. */

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runDirectoryAt } from '../../src/adapters/storage/run-directory.ts';
import { withDefaults } from '../../src/config/schema.ts';
import { type ChangeSource, toCodeChanges } from '../../src/domain/changes/change.ts';
import type { RunAction } from '../../src/domain/run/events.ts';
import { advance } from '../../src/domain/run/fold/advance.ts';
import { startOf } from '../../src/domain/run/state.ts';
import { closingWarnings } from '../../src/engine/finish/result.ts';
import { warnOfReadableSecrets } from '../../src/engine/open/sandbox-settings.ts';
import { Session } from '../../src/engine/session.ts';
import type { Sandbox } from '../../src/ports.ts';
import { git, tempFolder } from '../support/files/temp-folder.ts';
import { started } from '../support/runs/events.ts';
import { inputOf, sink, sourcesHere } from '../support/runs/from-sources.ts';

const SCRIPT = { 'script.jsonl': '{"text": "Nothing to do."}\n' };
const played = ['--provider', 'replay', '--recording', 'script.jsonl', '--sandbox', 'off'];

/** What a command prints in a fresh checkout. */
async function said(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const cwd = tempFolder(SCRIPT);
  git(cwd, 'init', '-q');
  const { stderr } = await sourcesHere(args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: tempFolder(), ...env },
  });
  return stderr;
}

const newSession = () =>
  new Session(
    inputOf(
      withDefaults({}),
      sink(() => {}),
    ),
  );

test('a model server that takes no key, over plain http', async () => {
  const server = ['--provider', 'openai', '--model', 'gpt-5.4', '--base-url', 'http://models.example'];
  const check = ['check', ...server, '--allow-insecure-base-url', '--sandbox', 'off'];
  expect(await said(check)).toContain(
    'warning: [WARN_NO_KEY] OPENAI_API_KEY is not set: requests to models.example are sent without a key.\n',
  );
  expect(await said(check, { OPENAI_API_KEY: 'sk-test-0123456789' })).toContain(
    'warning: [WARN_PLAIN_HTTP] The key and the whole conversation go to http://models.example over plain http',
  );
});

test('a report that cannot be written', async () => {
  const runDir = join(tempFolder(), 'run');
  const inTheWay = `mkdir -p ${runDir}/report.html/x`;
  const text = await said(['run', '-m', 'x', ...played, '--run-dir', runDir, '--verify', inTheWay]);
  expect(text).toContain('warning: [WARN_NO_REPORT] There is no report: ');
});

test('a scratch folder that cannot be removed', () => {
  const session = newSession();
  session.directory = { ...runDirectoryAt('/run'), scratch: `/${'x'.repeat(300)}` };
  session.end();
  expect(session.result.warnings).toEqual([
    expect.stringMatching(/^\[WARN_LEFT_BEHIND\] .* cannot be removed/),
  ]);
});

test('files of which nothing is known any more, and files that git ignored until now', () => {
  const after = { mode: '100644', blob: 'a'.repeat(40), size: 1 } as const;
  const change = { path: 'new.env', before: null, after, ignored: 'until_now' } as const;
  const source: ChangeSource = { by: 'tool', tool: 'run_command', calls: ['c'] };
  const later: RunAction[] = [
    { type: 'change.recorded', changes: toCodeChanges([change], source, 1) },
    { type: 'files.hidden', paths: ['gone.txt'] },
  ];
  const end = later.reduce(
    (state, action, at) => advance(state, { ...action, seq: at + 2, at: 2 }),
    startOf({ ...started, seq: 1, at: 1 }),
  );
  expect(closingWarnings(end, { paths: [], count: 0 }, [])).toEqual([
    '[WARN_MAY_HAVE_CHANGED] Could not be examined, so they may have changed: gone.txt.',
    '[WARN_TAKEN_WHOLE] In the patch with all their contents, because git ignored them when the run started: new.env.',
  ]);
});

test('an environment that commands can read', () => {
  const session = newSession();
  const input = { ...session.input, secretsInProc: true };
  const warnings: string[] = [];
  const watched = Object.assign(Object.create(session), {
    input,
    warn: (code: string) => warnings.push(code),
  });
  warnOfReadableSecrets(watched, { level: 'none' } as Sandbox);
  session.end();
  expect(warnings).toEqual(['WARN_KEY_IN_PROC']);
});
