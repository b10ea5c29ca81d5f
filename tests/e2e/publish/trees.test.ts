import { execa } from 'execa';
import { afterAll, expect, test } from 'vitest';
import {
  closeGitHubs,
  expectRoute,
  type MadeRun,
  madeRun,
  onGitHub,
  publish,
  ROUTES,
} from '../../support/jobs/publishing.ts';
import { call } from '../../support/runs/scripted-run.ts';

// Each test starts several processes.

afterAll(closeGitHubs);
const SUBMODULE = '1234567890123456789012345678901234567890';

const FILES = {
  'edit.txt': 'one\ntwo\nthree\n',
  'crlf.txt': 'one\r\ntwo\r\n',
  'no-newline.txt': 'last line',
  'latin-1.txt': Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x0a]),
  'gone.txt': 'x\n',
  'deep/er/gone.txt': 'x\n',
  'old name.txt': 'moved content\nwith lines\nthat stay\n',
  'run.sh': '#!/bin/sh\n',
  'tool.sh': '#!/bin/sh\n',
  'image.bin': Buffer.from([0, 1, 2, 3, 255]),
  'becomes-link': 'a file\n',
  'becomes-folder': 'a file\n',
  'folder/becomes-file': 'below\n',
  'kept/as/it.is': 'kept\n',
};

/** Every kind of change that a run can make. */
function everyKind(): Promise<MadeRun> {
  const command = [
    "rm -r gone.txt deep && git mv 'old name.txt' 'new näme \"quoted\".txt'",
    'chmod +x run.sh && chmod -x tool.sh',
    'ln -s ../edit.txt link && rm becomes-link && ln -s nowhere becomes-link',
    'rm becomes-folder && mkdir becomes-folder && echo in > becomes-folder/file',
    'rm -r folder && echo file > folder',
    "head -c 5000 /dev/zero | tr '\\0' '\\377' > image.bin; printf 'caf\\351!\\n' > latin-1.txt",
    "printf 'tab' > 'a\ttab'; printf 'x\\n' > ' leading and trailing '; printf 'y' > '☃.txt'; : > empty.txt",
    "printf 'a\\0b' > nul.txt; printf '\\357\\273\\277bom\\r\\n' > bom.txt",
    "printf '* text=auto eol=crlf\\n' > .gitattributes; mkdir -p '--option' && printf 'z' > '--option/-n'",
  ].join('\n');
  return madeRun(
    FILES,
    [
      {
        calls: [
          call('edit_file', { path: 'edit.txt', find: 'two', replace: 'zwei' }),
          call('edit_file', { path: 'crlf.txt', find: 'two\n', replace: 'zwei\ndrei\n' }),
          call('edit_file', { path: 'no-newline.txt', find: 'last', replace: 'very last' }),
          call('run_command', { command }),
        ],
      },
      { text: 'Done.' },
    ],
    {
      prepare: async ({ git }) => {
        await git('update-index', '--chmod=+x', 'tool.sh');
        await git('update-index', '--add', '--cacheinfo', `160000,${SUBMODULE},vendor/lib`);
        await git('commit', '--quiet', '--message', 'A submodule and a mode');
        await git('checkout', '--quiet', '--', 'tool.sh');
      },
    },
  );
}

test.each(ROUTES)(
  'a change of every kind published by %s is the tree of the run, as git reads it back',
  async (via, sign) => {
    const made = await everyKind();
    const there = await onGitHub(made);
    const { exitCode, stderr, said } = await publish(there, { args: [sign, '--protected', 'allow'] });
    expect(exitCode, stderr).toBe(0);
    const { repository, github } = there;
    const branch = said?.branch ?? '';
    const { sha = '', tree } = said?.commit ?? {};
    expect(await repository.head(branch)).toBe(sha);
    expect(await repository.git('rev-parse', `${sha}^{tree}`)).toBe(made.result.treeSha);
    expect(tree).toBe(made.result.treeSha);
    expect(await repository.git('rev-parse', `${sha}^`)).toBe(made.result.baseSha);
    expect(await repository.git('fsck', '--no-dangling', '--strict')).toBe('');
    const kinds = (await repository.git('diff-tree', '-r', '--no-renames', '--name-status', `${sha}^`, sha))
      .split('\n')
      .map((line) => line[0]);
    expect(new Set(kinds)).toEqual(new Set(['A', 'D', 'M', 'T']));
    expect(await repository.git('ls-tree', sha, 'vendor/lib')).toContain(SUBMODULE);

    // A person's checkout of the branch has the same files.
    const { stdout } = await execa('git', ['--git-dir', repository.gitFolder, 'show', `${branch}:crlf.txt`], {
      stripFinalNewline: false,
    });
    expect(stdout).toBe('one\r\nzwei\r\ndrei\r\n');
    expectRoute(there, via);
    expect(github.invalid).toEqual([]);
  },
);

test('with --sign required nothing is published that GitHub does not sign', async () => {
  const made = await madeRun({ 'a.txt': 'a\n' }, [
    { calls: [call('write_file', { path: 'a.txt', content: 'b\n' })] },
    { text: 'Done.' },
  ]);
  const signed = await onGitHub(made);
  const required = await publish(signed, { args: ['--sign', 'required'] });
  expect(required.exitCode, required.stderr).toBe(0);
  expect(required.said?.commit?.verified).toBe(true);

  const person = await onGitHub(made);
  const token = person.github.addToken({
    kind: 'user',
    login: 'acme',
    permissions: { contents: 'write', pull_requests: 'write' },
  });
  const refused = await publish({ ...person, token }, { args: ['--sign', 'required'] });
  expect([refused.exitCode, refused.said?.outcome]).toEqual([11, 'publish_failed']);
  expect(refused.said?.reason).toContain('--sign required');
  expect(await person.repository.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
});
