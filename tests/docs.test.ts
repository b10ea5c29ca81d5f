import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { resultSchema, settingsPage } from './support/derived-docs.ts';

test('the published schema of result.json is that of the code', () => {
  expect(readFileSync('docs/result.schema.json', 'utf8')).toBe(resultSchema());
});

test('the page of settings says what the code says', () => {
  expect(readFileSync('docs/settings.md', 'utf8')).toBe(settingsPage());
});
