import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { appendRolling } from '../../../src/adapters/sinks/log.ts';
import { tempFolder } from '../../support/files/temp-folder.ts';

test('a full log starts again, three older ones are kept, and failed writes stop nothing', () => {
  const folder = tempFolder();
  const path = join(folder, 'runs.log');
  for (let number = 1; number <= 11; number += 1) appendRolling(path, `line ${number}\n`, 16);
  const texts = readdirSync(folder)
    .sort()
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]);
  expect(texts).toEqual([
    ['runs.log', 'line 11\n'],
    ['runs.log.1', 'line 9\nline 10\n'],
    ['runs.log.2', 'line 7\nline 8\n'],
    ['runs.log.3', 'line 5\nline 6\n'],
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  appendRolling(join(folder, 'missing/runs.log'), 'lost\n');
  appendRolling(folder, 'lost\n');
  expect(readdirSync(folder)).toHaveLength(4);
});
