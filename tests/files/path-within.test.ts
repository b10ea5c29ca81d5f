import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pathWithin, realpathExisting } from '../../src/files/path-within.ts';
import { tempFolder } from '../support/files/temp-folder.ts';

test('a path lies where it is written, or where the links on the way to it lead', async () => {
  const root = await realpathExisting(tempFolder({ 'app/plan.md': '' }));
  const outside = await realpathExisting(tempFolder());
  const link = join(outside, 'link');
  symlinkSync(root, link);
  symlinkSync(outside, join(root, 'out'));
  const places = ['app/plan.md', 'out/plan.md', 'missing/plan.md'].map((path) =>
    pathWithin(root, join(root, path)),
  );
  expect(await Promise.all(places)).toEqual(['app/plan.md', 'out/plan.md', 'missing/plan.md']);
  expect(await pathWithin(root, join(link, 'app/plan.md'))).toBe('app/plan.md');
  expect(await pathWithin(root, join(link, 'missing/plan.md'))).toBe('missing/plan.md');
  expect(await pathWithin(root, join(outside, 'plan.md'))).toBeNull();
  expect(await pathWithin(root, `${root}-evil/plan.md`)).toBeNull();
});
