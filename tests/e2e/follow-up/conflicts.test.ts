/** The base of a pull request of ours has changed the same lines: a run resolves that, and publishes a merge of both. */

import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startClaudeServer } from '../../support/claude-server/server.ts';
import { temporaryFolder } from '../../support/files/repository.ts';
import {
  expectDone,
  type Life,
  type LifeEvent,
  openLife,
  writes,
} from '../../support/jobs/pull-request-life.ts';
import { cliHere } from '../../support/runs/in-process.ts';
import { call, KEY } from '../../support/runs/scripted-run.ts';

let life: Life;
let branch: string;
const PUSH: LifeEvent = { name: 'push', payload: { ref: 'refs/heads/main' } };

/** Pull request #1 has changed the first line of a.txt. */
beforeEach(async () => {
  const files = { 'a.txt': 'a\n\n\n\nz\n', 'b.txt': 'b\n', 'd.txt': 'd\n', 'plans/p.md': 'Small.\n' };
  life = await openLife(files, { forgets: true });
  const first = await life.run(writes('a.txt', 'new\n\n\n\nz\n', 'Renewed a.'), ['--message', 'Make a new']);
  expectDone(first);
  expectDone(await life.publish(first));
  branch = life.pull(1).pull?.head ?? '';
});

afterEach(async () => {
  expect(life.github.invalid).toEqual([]);
  await life.github.close();
});
test('it is resolved on the merge of both, which becomes a commit with two parents', async () => {
  const before = await life.hosted.head(branch);
  const base = await life.hosted.commit('main', {
    'a.txt': 'theirs\n\n\n\nz, too\n',
    'b.txt': 'better\n',
    'c.txt': 'c\n',
    '.github/workflows/ci.yml': 'on: push\n',
  });
  await life.toHead(1);
  const more = await life.run(
    writes('a.txt', 'new and theirs\n\n\n\nz, too\n', 'Kept both.'),
    ['--continue', '1', '--verify', 'grep -q better b.txt && test -f c.txt'],
    PUSH,
  );
  expectDone(more);
  expect(more.result.followUp).toMatchObject({ trigger: 'conflict', round: 1, merge: base });
  expect(life.prompt(more)).toContain('<conflict path="a.txt">\nline 1:\n<<<<<<< pull-request\nnew\n');
  expect(life.prompt(more)).toMatch(/\n\|{7} [0-9a-f]+\na\n={7}\ntheirs\n>{7} base\n/);
  const published = await life.publish(more);
  expectDone(published);
  const head = published.said?.commit?.sha ?? '';
  expect(await life.hosted.git('rev-parse', `${head}^1`, `${head}^2`)).toBe(`${before}\n${base}`);
  expect(await life.hosted.git('diff-tree', '-r', '--name-status', base, head)).toBe('M\ta.txt');
  expect(await life.hosted.git('show', `${head}:a.txt`)).toBe('new and theirs\n\n\n\nz, too');
  expect(await life.hosted.git('merge-tree', '--write-tree', 'main', branch)).toBe(
    await life.hosted.git('rev-parse', `${head}^{tree}`),
  );
  expect(life.pull(1).body).toContain('for a conflict with the base');
  expect(life.hosted.pulls().length).toBe(1);
  const again = await life.publish(more);
  expectDone(again);
  expect(again.said?.commit).toMatchObject({ operation: 'none', sha: head });

  // Nothing is left to be resolved.
  await life.toHead(1);
  const idle = await life.run([], ['--continue', '1'], PUSH);
  expect([idle.result.outcome, idle.server.requests.length]).toEqual(['no_change', 0]);
});

test('commits of people are kept when one of them asks, and so are those that come while it works', async () => {
  const theirs = await life.hosted.commit(branch, { 'd.txt': 'more\n' }, { author: 'Ann' });
  const base = await life.hosted.commit('main', { 'a.txt': 'theirs\n\n\n\nz\n', 'd.txt': null });
  await life.toHead(1);
  const refused = await life.run([], ['--continue', '1'], PUSH);
  expect([refused.result.outcome, refused.server.requests.length]).toEqual(['publish_failed', 0]);
  const script = [
    { calls: [call('write_file', { path: 'a.txt', content: 'both\n\n\n\nz\n' })] },
    { calls: [call('run_command', { command: 'rm d.txt' })] },
    { calls: [call('finish', { status: 'done', summary: 'Kept both.' })] },
  ];
  const more = await life.run(script, ['--continue', '1', '--message', 'resolve the conflict']);
  expectDone(more);
  expect(life.prompt(more)).toContain(
    '<conflict path="d.txt" kind="deleted in the base, changed on the other side">',
  );
  const later = await life.hosted.commit(branch, { 'e.txt': 'e\n' }, { author: 'Ann' });
  const published = await life.publish(more);
  expectDone(published);
  const head = published.said?.commit?.sha ?? '';
  expect(await life.hosted.git('rev-list', '--first-parent', '-3', head)).toBe(
    [head, later, theirs].join('\n'),
  );
  expect(await life.hosted.git('diff-tree', '-r', '--name-status', base, head)).toBe('M\ta.txt\nA\te.txt');
});

test('uncommitted work is left alone: the merge does not begin', async () => {
  await life.hosted.commit('main', { 'a.txt': 'theirs\n\n\n\nz\n' });
  await life.toHead(1);
  life.checkout.write('b.txt', 'mine\n');
  const dirty = await life.run([], ['--continue', '1'], PUSH);
  expect([dirty.result.errorCode, dirty.server.requests.length]).toEqual(['ERR_MERGE_NOT_BEGUN', 0]);
  expect(dirty.result.reason).toContain('Commit or stash them.');
  expect(readFileSync(join(life.checkout.root, 'b.txt'), 'utf8')).toBe('mine\n');
});

test('a file that the base deleted and the model keeps still becomes a merge', async () => {
  const before = await life.hosted.head(branch);
  const base = await life.hosted.commit('main', { 'a.txt': null, 'c.txt': 'c\n' });
  await life.toHead(1);
  const finish = call('finish', {
    status: 'done',
    summary: 'a.txt stays: the change to it is still wanted.',
  });
  const kept = await life.run([{ calls: [finish] }], ['--continue', '1', '--if-no-changes', 'error'], PUSH);
  expectDone(kept);
  expect([kept.result.outcome, kept.result.changedFiles]).toEqual(['done', []]);
  expect(kept.result.reason).toBe('The merge with the base is kept as git made it, 1 verify command passed.');
  const published = await life.publish(kept);
  expectDone(published);
  const head = published.said?.commit?.sha ?? '';
  expect(await life.hosted.git('rev-parse', `${head}^1`, `${head}^2`)).toBe(`${before}\n${base}`);
  expect(await life.hosted.git('diff-tree', '-r', '--name-status', base, head)).toBe('A\ta.txt');
  expect(life.pull(1).body).toContain('for a conflict with the base');
  expect((await life.publish(kept)).said?.commit).toMatchObject({ operation: 'none', sha: head });
});

test('one in protected files is refused before a request to a model, unless the run may resolve it', async () => {
  const accepted = ['--accept-protected', 'AGENTS.md'];
  await life.toHead(1);
  const guide = await life.run(writes('AGENTS.md', 'Ours.\n', 'Wrote a guide.'), [
    '--continue',
    '1',
    '--message',
    'add a guide',
  ]);
  expectDone(await life.publish(guide, accepted));
  await life.hosted.commit('main', { 'AGENTS.md': 'Theirs.\n' });
  await life.toHead(1);
  const refused = await life.run([], ['--continue', '1'], PUSH);
  expect([refused.exitCode, refused.server.requests.length]).toEqual([11, 0]);
  expect(refused.result.reason).toMatch(
    /^Pull request #1 is not continued: it conflicts with main \(\w{8}\) in protected files, whose changes are not published: AGENTS\.md\. Merge main into the branch yourself, and push it\. Or /,
  );
  // What a maintainer reads of it, on the pull request.
  expect((await life.publish(refused)).exitCode).toBe(11);
  expect(life.pull(1).comments.at(-1)?.body).toMatch(
    /^\*\*The run was not started\*\*\n\nPull request .*1 is not continued: it conflicts [^\n]*\n\nNo model was asked/,
  );
  // Asked for something else by a person, it does that.
  const asked = await life.run(writes('b.txt', 'b\n', 'Wrote b.'), ['--continue', '1', '-m', 'write b']);
  expect(asked.result.warnings).toContainEqual(
    expect.stringMatching(/^\[WARN_CONFLICT_LEFT\] The conflict with its base is left alone: /),
  );
  await life.toHead(1);
  const script = writes('AGENTS.md', 'Ours and theirs.\n', 'Kept both.');
  const resolved = await life.run(script, ['--continue', '1', ...accepted], PUSH);
  expectDone(resolved);
  expect((await life.publish(resolved)).said?.errorCode).toBe('ERR_PROTECTED_PATH');
  expectDone(await life.publish(resolved, accepted));
});

test('a run that was cut off on the merge continues in a fresh checkout of the head, from its journal alone', async () => {
  const before = await life.hosted.head(branch);
  const base = await life.hosted.commit('main', {
    'a.txt': 'theirs\n\n\n\nz, too\n',
    'b.txt': 'better\n',
    'c.txt': 'c\n',
    'd.txt': null,
  });
  await life.toHead(1);
  const note = { calls: [call('write_file', { path: 'note.txt', content: 'note\n' })] };
  const resolve = writes('a.txt', 'new and theirs\n\n\n\nz, too\n', 'Kept both.');
  const server = await startClaudeServer({ turns: (_, at) => [note, ...resolve][at] ?? note, apiKey: KEY });
  onTestFinished(() => server.close());
  const there = ['--base-url', server.url];
  const setup = join(temporaryFolder(), 'plan.md');
  writeFileSync(setup, '---\nsetup: [test -f c.txt]\nverify: [grep -q better b.txt]\n---\nResolve it.\n');
  const asked = ['--continue', '1', '--plan', setup, '--max-iterations', '1', ...there];
  const cut = await life.run([], asked, PUSH);
  expect(cut.result.outcome, cut.stderr).toBe('limit_reached');
  const journal = temporaryFolder();
  for (const name of ['events.jsonl', 'result.json', 'shadow.git'])
    cpSync(join(cut.runDir, name), join(journal, name), { recursive: true });
  const fresh = join(temporaryFolder(), 'fresh');
  await life.checkout.git('clone', '--quiet', '--branch', branch, life.hosted.gitFolder, fresh);
  const { exitCode, stderr } = await cliHere(
    ['resume', journal, '--repo', fresh, '--max-iterations', '9', ...there],
    { cwd: fresh, env: { PATH: process.env.PATH, HOME: fresh, ANTHROPIC_API_KEY: KEY } },
  );
  expect(exitCode, stderr).toBe(0);
  expect(server.requests).toHaveLength(3);
  expect(stderr).toContain(
    `[WARN_UNCOMMITTED_WORK] The patch is relative to the merge of ${base.slice(0, 12)}, which publish makes again.`,
  );
  expect([existsSync(join(fresh, 'd.txt')), readFileSync(join(fresh, 'note.txt'), 'utf8')]).toEqual([
    false,
    'note\n',
  ]);
  const published = await life.publish({ ...cut, runDir: journal });
  expectDone(published);
  const head = published.said?.commit?.sha ?? '';
  expect(await life.hosted.git('rev-parse', `${head}^1`, `${head}^2`)).toBe(`${before}\n${base}`);
  expect(await life.hosted.git('diff-tree', '-r', '--name-status', base, head)).toBe('M\ta.txt\nA\tnote.txt');

  // What a journal says of another pull request is asked of GitHub.
  const file = join(journal, 'result.json');
  const result = JSON.parse(readFileSync(file, 'utf8'));
  for (const other of [{ pullRequest: 99 }, { marker: '00000000' }, { branch: 'main' }]) {
    writeFileSync(file, JSON.stringify({ ...result, followUp: { ...result.followUp, ...other } }));
    const hostile = await life.publish({ ...cut, runDir: journal }, ['--comment', 'never']);
    expect([hostile.exitCode, hostile.said?.errorCode]).toEqual([11, 'ERR_PULL_REQUEST_MOVED']);
  }
  expect(await life.hosted.head('main')).toBe(base);
});

test('an unresolved conflict is not published, and an unresolvable one is refused before a request to a model', async () => {
  await life.hosted.commit('main', { 'a.txt': 'theirs\n\n\n\nz\n' });
  await life.toHead(1);
  const barred = await life.run([], ['--continue', '1', '--protect', 'a.txt'], PUSH);
  expect([barred.result.outcome, barred.server.requests.length]).toEqual(['publish_failed', 0]);
  expect(barred.result.reason).toContain('that the plan and the settings do not allow to be changed: a.txt.');
  const finish = call('finish', { status: 'done', summary: 'Done.' });
  const lazy = [
    { calls: [call('write_file', { path: 'b.txt', content: 'x\n' })] },
    ...[1, 2, 3, 4].map(() => ({ calls: [finish] })),
  ];
  const red = await life.run(lazy, ['--continue', '1'], PUSH);
  expect(red.result.outcome).toBe('verify_failed');
  const unresolved = await life.publish(red);
  expect([unresolved.exitCode, unresolved.said?.reason]).toEqual([
    11,
    expect.stringMatching(/^The conflict with main \([0-9a-f]{8}\) is not resolved in a\.txt\./),
  ]);
  // A run directory that has merged what is nobody's.
  const other = await life.hosted.commit('elsewhere', { 'x.txt': 'x\n' });
  const file = join(red.runDir, 'result.json');
  const result = JSON.parse(readFileSync(file, 'utf8'));
  result.followUp.merge = other;
  writeFileSync(file, JSON.stringify(result));
  const hostile = await life.publish(red);
  expect([hostile.exitCode, hostile.said?.reason]).toEqual([
    11,
    expect.stringContaining('which is not in main.'),
  ]);

  await life.hosted.commit('main', { 'a.txt': 'a\0binary' });
  await life.toHead(1);
  const binary = await life.run([], ['--continue', '1'], PUSH);
  expect([binary.result.errorCode, binary.server.requests.length]).toEqual(['ERR_MERGE_NOT_MADE', 0]);
  expect(binary.result.reason).toMatch(
    /^Pull request #1 is not continued: it conflicts with main \([0-9a-f]{8}\) in files that cannot be merged as text \(.*\): a\.txt\. Merge main into the branch yourself, and push it\.$/,
  );
});
