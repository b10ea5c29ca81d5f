import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findPersistedCredentials } from '../../src/git/user-settings.ts';
import { makeRepository, temporaryFolder } from '../support/files/repository.ts';

const TOKEN = 'ghs_0123456789abcdefghijABCDEFGHIJ012345';
const BASIC = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');

/** What is found when this is set; `home` is where the user's own files are. */
async function found(settings: Readonly<Record<string, string>>, home = temporaryFolder()) {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  for (const [key, value] of Object.entries(settings)) await repository.git('config', key, value);
  return findPersistedCredentials(repository.root, { HOME: home });
}

test.each([
  [
    'a basic header',
    { 'http.https://github.com/.extraheader': `AUTHORIZATION: basic ${BASIC}` },
    [BASIC, `x-access-token:${TOKEN}`, TOKEN],
  ],
  ['a bearer header', { 'http.extraHeader': `Authorization: Bearer ${TOKEN}` }, [TOKEN]],
  ['a header of another name', { 'http.extraHeader': `PRIVATE-TOKEN: ${TOKEN}` }, [TOKEN]],
  ['a password in an address', { 'remote.origin.url': `https://x:${TOKEN}@github.com/a/b` }, [TOKEN]],
  ['a token in place of a name', { 'remote.origin.pushurl': `https://${TOKEN}@github.com/a/b` }, [TOKEN]],
  ['an escaped password', { 'http.proxy': 'http://me:p%40ssword@proxy.example' }, ['p%40ssword', 'p@ssword']],
  [
    'a rewritten address',
    { [`url.https://x:${TOKEN}@github.com/.insteadOf`]: 'https://github.com/' },
    [TOKEN],
  ],
  ['a helper in shell', { 'credential.helper': `!f() { echo "password=${TOKEN}"; }; f` }, [TOKEN]],
  ['a key file', { 'core.sshCommand': 'ssh -i "$RUNNER_TEMP/key"' }, []],
  ['a client certificate', { 'http.sslKey': '/key.pem' }, []],
])('%s is found', async (_what, settings, secrets) => {
  const left = await found(settings);
  expect(left.places).toHaveLength(1);
  expect(left.places[0]).toContain('.git/config');
  expect(left.places.join()).not.toContain(TOKEN);
  expect(left.secrets).toEqual(secrets);
});

test('stored credentials are found in the user’s file, and in a given one', async () => {
  const home = temporaryFolder();
  writeFileSync(join(home, '.git-credentials'), `https://me:${TOKEN}@github.com\n`);
  expect((await found({ 'credential.helper': 'store' }, home)).secrets).toEqual([TOKEN]);
  writeFileSync(join(home, 'other'), 'https://me:another-password@github.com\n');
  const named = await found({ 'credential.helper': `store --file '${join(home, 'other')}'` }, home);
  expect(named.secrets).toEqual(['another-password']);
  const missing = await found({ 'credential.helper': 'store --file /nonexistent' }, home);
  expect(missing).toEqual({ places: [], secrets: [] });
});

test('settings without credentials are left alone', async () => {
  const left = await found({
    'remote.origin.url': 'https://github.com/a/b',
    'remote.other.url': 'ssh://git@github.com/a/b',
    'core.sshCommand': 'ssh -v',
    'http.extraHeader': 'X-Trace: on',
    'credential.helper': 'cache',
  });
  expect(left).toEqual({ places: [], secrets: [] });
});
