import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readApiKey as readKeyOf } from '../../src/config/provider-keys.ts';
import { git, tempFolder } from '../support/files/temp-folder.ts';

const KEY = 'sk-ant-test-0123456789';
const environment = { PATH: process.env.PATH };
const found = { key: KEY, notes: [] };

const readApiKey = (env: Parameters<typeof readKeyOf>[0], cwd: string) =>
  readKeyOf(env, cwd, ['ANTHROPIC_API_KEY']);

/** A repository in which these files are tracked. */
function repository(files: Record<string, string>): string {
  const folder = tempFolder(files);
  git(folder, 'init', '-q');
  git(folder, 'add', '-Af');
  return folder;
}

describe('the key comes from', () => {
  test('a .env that git does not track, ignored or not, also in a folder of the repository', async () => {
    const folder = repository({ 'a/file': '', '.gitignore': '/.env' });
    writeFileSync(join(folder, '.env'), `ANTHROPIC_API_KEY=${KEY}`);
    writeFileSync(join(folder, 'a/.env'), `ANTHROPIC_API_KEY=${KEY}`);
    expect(await readApiKey(environment, folder)).toEqual(found);
    expect(await readApiKey({ ...environment, ANTHROPIC_API_KEY: '' }, join(folder, 'a'))).toEqual(found);
  });
});

describe('there is no key', () => {
  test.each(['.env', '.ENV'])('in a %s that git tracks, whatever its configuration says', async (name) => {
    const folder = repository({ [name]: `ANTHROPIC_API_KEY=${KEY}` });
    writeFileSync(join(folder, '.env'), `ANTHROPIC_API_KEY=${KEY}`);
    const hook = join(folder, 'hook.sh');
    writeFileSync(hook, `#!/bin/sh\ntouch ${join(folder, 'ran')}\n`, { mode: 0o755 });
    git(folder, 'config', 'core.fsmonitor', hook);
    expect(await readApiKey({ ...environment, GIT_DIR: '/nowhere' }, folder)).toEqual({
      key: null,
      notes: [
        `[WARN_KEY_NOT_USED] ${join(folder, '.env')} is tracked by git, so its ANTHROPIC_API_KEY is not used: it may come from someone else.`,
      ],
    });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  test('in a .env of which git cannot say whether it is tracked', async () => {
    const broken = tempFolder({ '.git': 'gitdir: nowhere', '.env': `ANTHROPIC_API_KEY=${KEY}` });
    expect(await readApiKey(environment, broken)).toEqual({
      key: null,
      notes: [
        `[WARN_KEY_NOT_USED] git could not say whether it tracks ${join(broken, '.env')}, so its ANTHROPIC_API_KEY is not used.`,
      ],
    });
  });

  test('that git tracks, as the git of the machine says: one that PATH has in the repository is not asked', async () => {
    const folder = repository({ '.env': `ANTHROPIC_API_KEY=${KEY}` });
    writeFileSync(join(folder, 'git'), `#!/bin/sh\ntouch ${folder}/ran\n`, { mode: 0o755 });
    const { key } = await readApiKey({ PATH: `${folder}:${process.env.PATH}` }, folder);
    expect([key, existsSync(join(folder, 'ran'))]).toEqual([null, false]);
  });

  test('when the value could not travel in a header, and the note does not repeat it', async () => {
    const folder = tempFolder({ '.env': 'ANTHROPIC_API_KEY="sk-ant with blanks"' });
    expect(await readApiKey(environment, folder)).toEqual({
      key: null,
      notes: [
        `[WARN_KEY_NOT_USED] The ANTHROPIC_API_KEY in ${join(folder, '.env')} is not used: it contains blanks or characters that a key cannot have.`,
      ],
    });
    expect(await readApiKey({ ANTHROPIC_API_KEY: 'sk-änt' }, folder)).toEqual({
      key: null,
      notes: [
        '[WARN_KEY_NOT_USED] The ANTHROPIC_API_KEY in the environment is not used: it contains blanks or characters that a key cannot have.',
      ],
    });
  });
});

// Node's own parser reads the file; these are the forms that people rely on, and where it ends a value.
test.each([
  ['N=v', 'v'],
  ['N=v\r\nL=w\r\n', 'v'],
  ['  export N = v  ', 'v'],
  ['N=v # comment', 'v'],
  ['N=v#comment', 'v'],
  ['N= # comment', null],
  ["N='a#$b'", 'a#$b'],
  ['N="a#b" # comment', 'a#b'],
  ['N=`a`', 'a'],
  ['N=1\nN=2', '2'],
  ['#N=v', null],
  ['NN=v\nXN=v', null],
  ['L="\nN=inside another value\n"', null],
  ['', null],
])('in %j, the value of N is %j', async (text, key) => {
  const folder = tempFolder({ '.env': text.replaceAll('N', 'ANTHROPIC_API_KEY') });
  expect(await readApiKey(environment, folder)).toEqual({ key, notes: [] });
});
