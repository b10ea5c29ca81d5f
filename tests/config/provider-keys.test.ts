import { expect, test } from 'vitest';
import { KEY_VARIABLES } from '../../src/adapters/providers/registry.ts';
import { readKey } from '../../src/config/provider-keys.ts';
import { tempFolder } from '../support/files/temp-folder.ts';

const AZURE = 'https://me.openai.azure.com/openai/v1';
const OPENAI_KEY = { OPENAI_API_KEY: 'sk-of-openai' };
const BOTH = { ...OPENAI_KEY, AZURE_OPENAI_API_KEY: 'of-azure' };

test.each<[string | null, Record<string, string>, string | null]>([
  [AZURE, BOTH, 'of-azure'],
  [AZURE, OPENAI_KEY, 'sk-of-openai'],
  [null, BOTH, 'sk-of-openai'],
  ['https://azure.com.example/v1', { AZURE_OPENAI_API_KEY: 'of-azure' }, null],
])('with the base URL %j and %j the key is %j', async (baseUrl, env, key) => {
  const read = await readKey({ env, cwd: tempFolder() }, { provider: 'openai', baseUrl });
  expect(read.key).toBe(key);
});

test('a missing key of Azure is named as such, and children get none', async () => {
  const read = await readKey({ env: {}, cwd: tempFolder() }, { provider: 'openai', baseUrl: AZURE });
  expect(read.problems).toMatchObject([
    { code: 'ERR_NO_KEY', message: expect.stringContaining('AZURE_OPENAI_API_KEY is not set') },
  ]);
  expect(KEY_VARIABLES).toContain('AZURE_OPENAI_API_KEY');
});
