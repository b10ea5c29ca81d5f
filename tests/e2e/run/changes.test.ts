import { cpSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, test } from 'vitest';
import { makeRepository, type Repository, temporaryFolder } from '../../support/files/repository.ts';
import { call, command, done, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';

/** Every file below a folder: mode and content, or where a link points. `.git` is left out. */
function treeOf(folder: string): Record<string, string> {
  const tree: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (name === '.git' || name.startsWith('.git/')) continue;
    const stat = lstatSync(join(folder, name));
    if (stat.isSymbolicLink()) tree[name] = `link to ${readlinkSync(join(folder, name))}`;
    else if (stat.isFile()) {
      tree[name] = `${stat.mode & 0o100 ? 'x' : '-'} ${readFileSync(join(folder, name)).toString('base64')}`;
    }
  }
  return tree;
}

/** Applies the patch with plain git to a copy of the base and compares every file with the work tree. */
async function expectPatchRebuilds(
  base: string,
  repository: Repository,
  finished: FinishedRun,
): Promise<void> {
  // A copied file has a new inode, which git takes for a change until it has looked again.
  await execa('git', ['update-index', '-q', '--refresh'], { cwd: base });
  const applied = await execa('git', ['apply', '--index', join(finished.runDir, 'changes.patch')], {
    cwd: base,
    reject: false,
  });
  expect(applied.stderr).toBe('');
  expect(treeOf(base)).toEqual(treeOf(repository.root));
  const { stdout } = await execa('git', ['write-tree'], { cwd: base });
  expect(stdout).toBe(finished.result.treeSha);
}

function copyOf(repository: Repository): string {
  const copy = join(temporaryFolder(), 'base');
  cpSync(repository.root, copy, { recursive: true, verbatimSymlinks: true });
  return copy;
}

describe('a run that changes files in every way', () => {
  test('ends with a patch that rebuilds the work tree, byte for byte', async () => {
    const repository = await makeRepository({
      'edit.txt': 'one\ntwo\nthree\n',
      'crlf.txt': 'one\r\ntwo\r\n',
      'no-newline.txt': 'last line',
      'latin-1.txt': Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]),
      'gone.txt': 'x\n',
      'old name.txt': 'moved content\n',
      'run.sh': '#!/bin/sh\n',
      'image.bin': Buffer.from([0, 1, 2, 3, 255]),
      'becomes-link': 'a file\n',
    });
    const base = copyOf(repository);
    const finished = await scriptedRun({
      repository,
      turns: [
        {
          calls: [
            call('write_file', { path: 'deep/new/file.txt', content: 'created\n' }),
            call('write_file', { path: 'empty.txt', content: '' }),
            call('edit_file', { path: 'edit.txt', find: 'two', replace: 'zwei' }),
            // As the edit tools of others are called.
            call('edit_file', { file_path: 'crlf.txt', old_string: 'two\n', new_string: 'zwei\ndrei\n' }),
            call('edit_file', { path: 'no-newline.txt', find: 'last', replace: 'very last' }),
          ],
        },
        command("rm gone.txt && git mv 'old name.txt' 'new näme \"quoted\".txt' && chmod +x run.sh"),
        command('ln -s ../edit.txt link && rm becomes-link && ln -s nowhere becomes-link'),
        command("head -c 5000 /dev/zero | tr '\\0' '\\377' > image.bin; printf 'caf\\351!\\n' > latin-1.txt"),
        done,
      ],
    });
    expect(finished.result.outcome, finished.stderr).toBe('done');
    expect(readFileSync(join(repository.root, 'crlf.txt'), 'utf8')).toBe('one\r\nzwei\r\ndrei\r\n');
    const kinds = finished.result.changedFiles.map(({ path, kind, from }) => [path, kind, from]);
    expect(kinds).toContainEqual(['new näme "quoted".txt', 'rename', 'old name.txt']);
    expect(kinds).toContainEqual(['run.sh', 'mode', undefined]);
    expect(kinds).toContainEqual(['gone.txt', 'delete', undefined]);
    await expectPatchRebuilds(base, repository, finished);
    expect(await repository.git('diff', '--cached')).toBe('');
  });
});

describe('every changed byte is accounted for', () => {
  test('each change names its tool call and iteration, and commands are distinguished from file tools', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const { events } = await scriptedRun({
      repository,
      turns: [
        { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
        command('echo more >> a.txt; echo b > b.txt'),
        done,
      ],
    });
    const changes = events.flatMap((event) => (event.type === 'change.recorded' ? event.changes : []));
    const calls = events.flatMap((event) => (event.type === 'tool.started' ? [event.call.id] : []));
    expect(changes.map(({ path, kind, source, iteration }) => ({ path, kind, source, iteration }))).toEqual([
      {
        path: 'a.txt',
        kind: 'modify',
        source: { by: 'tool', tool: 'edit_file', calls: [calls[0]] },
        iteration: 1,
      },
      {
        path: 'a.txt',
        kind: 'modify',
        source: { by: 'tool', tool: 'run_command', calls: [calls[1]] },
        iteration: 2,
      },
      {
        path: 'b.txt',
        kind: 'create',
        source: { by: 'tool', tool: 'run_command', calls: [calls[1]] },
        iteration: 2,
      },
    ]);
  });
});

describe('the journal', () => {
  test('is on disk before the run acts on it', async () => {
    const repository = await makeRepository({ 'a.txt': 'old\n' });
    const runDir = join(temporaryFolder(), 'run');
    const atRequest: string[] = [];
    const script = [{ calls: [call('write_file', { path: 'a.txt', content: 'x' })] }, done];
    await scriptedRun({
      repository,
      runDir,
      turns: (_, index) => {
        // The first request goes out while the state that tools will work on is being recorded.
        if (index > 0) {
          const lines = readFileSync(join(runDir, 'events.jsonl'), 'utf8').trimEnd().split('\n');
          atRequest.push(JSON.parse(lines.at(-1) ?? '').type);
        }
        return script[index] ?? done;
      },
    });
    expect(atRequest).toEqual(['request.sent']);
  });

  test('plays again without a model, to the same patch', async () => {
    const files = { 'a.txt': 'old\n', 'b.txt': 'b\n' };
    const repository = await makeRepository(files);
    const recorded = await scriptedRun({
      repository,
      turns: [
        { calls: [call('read_file', { path: 'a.txt' }), call('list_files', { path: '.' })] },
        { calls: [call('edit_file', { path: 'a.txt', find: 'old', replace: 'new' })] },
        command('rm b.txt'),
        done,
      ],
    });
    const again = await makeRepository(files);
    const replayed = await scriptedRun({
      repository: again,
      turns: [],
      args: ['--provider', 'replay', '--recording', join(recorded.runDir, 'events.jsonl')],
    });
    expect(replayed.result.outcome, replayed.stderr).toBe('done');
    expect(replayed.patch).toBe(recorded.patch);
    expect(replayed.server.requests).toHaveLength(0);
  });
});

describe('what goes to the model', () => {
  test('is the same, byte for byte, for the same plan and the same answers', async () => {
    const bytes = async () => {
      const repository = await makeRepository({ 'a.txt': 'old\n', 'AGENTS.md': '# Rules\n' });
      const { server } = await scriptedRun({
        repository,
        turns: [{ calls: [call('read_file', { path: 'a.txt' })] }, done],
      });
      return server.requests.map((request) => request.bytes);
    };
    const first = await bytes();
    expect(first).toHaveLength(2);
    expect(await bytes()).toEqual(first);
  });
});
