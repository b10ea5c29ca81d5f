import { expect, test } from 'vitest';
import { withoutMachinePaths } from '../../src/texts/run-parts.ts';

test.each([
  ['Another run is working in /home/runner/work/shop/shop. Wait.', 'Another run is working in …/shop. Wait.'],
  ['/tmp/r-1/changes.patch, line 3: no patch', '…/changes.patch, line 3: no patch'],
  ['There is no run "/var/a b" (looked in /var/x/y).', 'There is no run "…/a b" (looked in …/y).'],
  [
    'Commit https://github.com/acme/shop/tmp/x and src/tmp/a.ts',
    'Commit https://github.com/acme/shop/tmp/x and src/tmp/a.ts',
  ],
  ['/usr/bin/bwrap is not installed', '/usr/bin/bwrap is not installed'],
  ['Comment with /patchsmith and what to do', 'Comment with /patchsmith and what to do'],
])('%s', (text, shown) => {
  expect(withoutMachinePaths(text)).toBe(shown);
});
