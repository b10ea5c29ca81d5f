/** `patchsmith report` over run directories of every kind, also those that somebody else has made. */

import {
  appendFileSync,
  cpSync,
  existsSync,
  lstatSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ReportData } from '../../../src/domain/report/report-data.ts';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { cutRun } from '../../support/runs/recorded-run.ts';
import { call, type FinishedRun, KEY, scriptedRun } from '../../support/runs/scripted-run.ts';

let recorded: FinishedRun;
beforeAll(async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  recorded = await scriptedRun({
    repository,
    turns: [
      { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
      { calls: [call('finish', { status: 'done', summary: 'Done.' })] },
    ],
  });
  expect(recorded.result.outcome, recorded.stderr).toBe('done');
});

/** A copy of the run, as it would have come from elsewhere. */
function copy(): string {
  const folder = join(temporaryFolder(), 'run');
  cpSync(recorded.runDir, folder, { recursive: true });
  return folder;
}

const report = (run: string, ...args: string[]) =>
  runCli(['report', run, ...args], { cwd: temporaryFolder() });

/** The data and the patch in the page of a run. */
function pageOf(run: string): { data: ReportData; patch: Buffer; text: string } {
  const text = readFileSync(join(run, 'report.html'), 'utf8');
  const [, json = ''] = /id="data">(.*?)<\/script>/s.exec(text) ?? [];
  const [, patch = ''] = /id="patch">(.*?)<\/script>/s.exec(text) ?? [];
  return { data: JSON.parse(json), patch: Buffer.from(patch, 'base64'), text };
}

const types = ({ events }: ReportData) => [...new Set(events.map(({ type }) => type))];

describe('a run leaves a page', () => {
  test('with its result, its events and its patch, byte for byte, for its owner alone', () => {
    const { data, patch, text } = pageOf(recorded.runDir);
    expect(patch.toString()).toBe(recorded.patch);
    expect(data.result).toEqual(recorded.result);
    expect(data.notes).toEqual([]);
    expect(types(data)).toEqual(['started', 'turn', 'call', 'change', 'done', 'note']);
    expect(lstatSync(join(recorded.runDir, 'report.html')).mode & 0o777).toBe(0o600);
    expect(text).not.toContain(KEY);
    expect(recorded.stderr).toContain(`report: ${recorded.runDir}/report.html\n`);
  });

  test('and `report` makes the same one again from the directory alone', async () => {
    const run = copy();
    rmSync(join(run, 'report.html'));
    const { exitCode, stdout, lastLine } = await report(run);
    expect([exitCode, stdout], lastLine).toEqual([0, `${run}/report.html\n`]);
    const [before, after] = [pageOf(recorded.runDir), pageOf(run)];
    const same = { madeAt: 0, files: [] };
    expect({ ...after.data, ...same }).toEqual({ ...before.data, ...same });
    expect(after.patch).toEqual(before.patch);
  });

  test('also when it is refused before it begins', async () => {
    const folder = join(temporaryFolder(), 'run');
    const { exitCode } = await runCli(['run', '--max-iterations', '0', '--run-dir', folder], {
      cwd: temporaryFolder(),
    });
    expect(exitCode).toBe(2);
    expect(pageOf(folder).data).toMatchObject({ result: { outcome: 'usage_error' }, events: [] });
  });
});

test('the page of a run with a withheld patch quotes nothing from it', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const key = [
    '-----BEGIN RSA',
    'PRIVATE KEY-----\nMIIEow-canary-IBAAKCAQ\n-----END RSA',
    'PRIVATE KEY-----\n',
  ].join(' ');
  const run = await scriptedRun({
    repository,
    turns: [
      { calls: [call('write_file', { path: 'key.pem', content: key })] },
      { calls: [call('run_command', { command: 'cat key.pem | rev | rev' })] },
      { text: 'Done.' },
    ],
  });
  expect([run.result.outcome, run.result.patch]).toEqual(['policy_violation', null]);
  const { data, patch, text } = pageOf(run.runDir);
  expect([text.includes('canary'), patch.length, data.result.secrets.length > 0]).toEqual([false, 0, true]);
  expect(data.notes).toEqual([expect.stringContaining('the patch was withheld')]);
});

describe('a run that did not come to its end', () => {
  /** As a kill leaves it after its first call began. */
  function killed(): string {
    const run = copy();
    rmSync(join(run, 'report.html'));
    const lines = readFileSync(join(run, 'events.jsonl'), 'utf8').split('\n');
    const until = lines.findIndex((line) => line.includes('"tool.started"'));
    writeFileSync(join(run, 'events.jsonl'), `${lines.slice(0, until + 1).join('\n')}\n{"type":"tool.comp`);
    const running = {
      ...recorded.result,
      status: 'running',
      outcome: null,
      exitCode: null,
      reason: '',
      patch: null,
    };
    const early = { treeSha: null, changedFiles: [], provenance: null };
    writeFileSync(join(run, 'result.json'), JSON.stringify({ ...running, ...early }));
    return run;
  }

  test('is reported as killed, with the call that did not end, and that the journal is torn', async () => {
    const run = killed();
    expect((await report(run)).exitCode).toBe(0);
    const { data, patch } = pageOf(run);
    expect(data.result.outcome).toBe('internal_error');
    expect(data.result.reason).toContain('killed, or out of memory');
    expect(types(data)).toEqual(['started', 'turn', 'call']);
    expect(data.notes).toEqual([expect.stringContaining('torn')]);
    expect(patch).toHaveLength(0);
  });

  test('has a page of the whole when it was resumed, and none of an earlier end while it continues', async () => {
    const edit = (from: string, to: string) => ({
      calls: [call('edit_file', { path: 'a.txt', find: from, replace: to })],
    });
    const pages: boolean[] = [];
    let page = '';
    const run = await cutRun(
      { 'a.txt': 'old\n' },
      [edit('old', 'one'), edit('one', 'two'), { text: 'Done.' }],
      ['--max-iterations', '1'],
      () => void (page !== '' && pages.push(existsSync(page))),
    );
    expect(pageOf(run.runDir).data.result.outcome).toBe('limit_reached');
    page = join(run.runDir, 'report.html');
    const end = await run.resume({ today: ['--max-iterations', '9'] });
    expect(typeof end === 'string' ? end : end.result.outcome).toBe('done');
    expect(new Set(pages)).toEqual(new Set([false]));
    const { data } = pageOf(run.runDir);
    expect(data.result.superseded).toHaveLength(1);
    expect(data.events.map(({ type }) => type).filter((type) => /turn|resumed|started/.test(type))).toEqual([
      'started',
      'turn',
      'resumed',
      'turn',
      'turn',
    ]);
  });
});

describe('a run directory of someone else', () => {
  test('has its own page replaced, and a link in its place is not written through', async () => {
    const run = copy();
    writeFileSync(join(run, 'report.html'), '<script>steal()</script>');
    await report(run);
    expect(pageOf(run).text).not.toContain('steal()');
    const victim = join(temporaryFolder(), 'victim');
    writeFileSync(victim, 'mine');
    rmSync(join(run, 'report.html'));
    symlinkSync(victim, join(run, 'report.html'));
    const { exitCode, lastLine } = await report(run);
    expect([exitCode, readFileSync(victim, 'utf8')]).toEqual([2, 'mine']);
    expect(lastLine).toContain('is a link, and links are not followed there');
  });

  test('with another patch than its result says is shown without the patch, and with the reason', async () => {
    const run = copy();
    appendFileSync(join(run, 'changes.patch'), 'diff --git a/x b/x\n');
    expect((await report(run)).exitCode).toBe(0);
    const { data, patch } = pageOf(run);
    expect(data.patch.why).toMatch(/^changes\.patch .*(?:hash|larger)/);
    expect(patch).toHaveLength(0);
  });

  test('with a journal of another form is shown without it, and with the reason', async () => {
    const run = copy();
    writeFileSync(join(run, 'events.jsonl'), `${JSON.stringify({ seq: 1, at: 1, type: '</script>' })}\n`);
    expect((await report(run)).exitCode).toBe(0);
    const { data } = pageOf(run);
    expect(data.events).toEqual([]);
    expect(data.notes).toEqual([expect.stringContaining('line 1: not an event of this version')]);
  });

  test('without a result that can be read has no page', async () => {
    const run = copy();
    writeFileSync(join(run, 'result.json'), '{}');
    rmSync(join(run, 'report.html'));
    const { exitCode, lastLine } = await report(run);
    expect([exitCode, existsSync(join(run, 'report.html'))]).toEqual([2, false]);
    expect(lastLine).toContain('is missing or not the result of a run of this version');
  });
});

test('--open hands the page to the desktop, and without a desktop says what to open', async () => {
  const run = copy();
  const bin = temporaryFolder();
  const log = join(bin, 'opened');
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$@" > ${log}\n`, { mode: 0o755 });
  const path = `${bin}:${process.env.PATH}`;
  const opened = await runCli(['report', run, '--open'], { cwd: run, env: { PATH: path } });
  expect([opened.exitCode, readFileSync(log, 'utf8')]).toEqual([0, `file://${run}/report.html\n`]);
  const bare = await runCli(['report', run, '--open'], { cwd: run, env: { PATH: temporaryFolder() } });
  expect(bare.exitCode).toBe(1);
  expect(bare.lastLine).toContain(`there is no xdg-open. Open file://${run}/report.html in a browser.`);
});
