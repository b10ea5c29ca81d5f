import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName, encodeName } from '../../src/files/names.ts';
import { ScratchCheckout } from '../adapters/workspace/scratch-checkout.ts';
import { fuzzRuns, IS_FULL, MATRIX_MS } from '../support/setup/sample.ts';

/**
 * Each tree is made of the one before, since a checkout of its own for each would take an hour. Even so a tree takes 12 ms:
 * `npm test` looks at the same few each time, and the full suite at others every night.
 */
const TREES = { numRuns: fuzzRuns('trees'), ...(IS_FULL ? {} : { seed: 11 }) };

const PATHS = [
  'a',
  'b',
  'a/b',
  'a/c',
  'b/c/d',
  'e\udcff',
  'f g',
  'n/x',
  'x.log',
  'a/x.log',
  'out/y',
  'new\nline',
  'UP/low',
];
const at = fc.constantFrom(...PATHS);
const change = fc.oneof(
  fc.record({
    do: fc.constant('write' as const),
    path: at,
    text: fc.constantFrom('', 'x\n', 'y\r\n', 'long\n'.repeat(9)),
    mode: fc.constantFrom(0o644, 0o755, 0o600),
  }),
  fc.record({
    do: fc.constant('link' as const),
    path: at,
    text: fc.constantFrom('a', '../..', 'nowhere', '/etc'),
  }),
  fc.record({ do: fc.constant('remove' as const), path: at }),
  fc.record({ do: fc.constant('folder' as const), path: at }),
);
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function perform(scratch: ScratchCheckout, made: Change): void {
  if (made.do === 'remove') {
    scratch.remove(made.path);
    return;
  }
  scratch.clearWay(made.path);
  if (made.do === 'write') scratch.write(made.path, made.text, made.mode);
  else if (made.do === 'link') scratch.link(made.path, made.text);
  else {
    scratch.write(`${made.path}/inside`, 'x\n');
    scratch.remove(`${made.path}/inside`);
  }
}

/** What the tree holds, found in the most simple way: mode and blob of each file and link that git would see. */
function naive(root: string, folder = ''): Record<string, string> {
  const found: Record<string, string> = {};
  const entries = readdirSync(encodeName(join(root, folder)), { encoding: 'buffer' }).map(decodeName);
  if (folder !== '' && entries.includes('.git')) return {};
  for (const name of entries) {
    const path = folder === '' ? name : `${folder}/${name}`;
    const stat = lstatSync(encodeName(join(root, path)));
    if (name === '.git' || /^(.*\.log)$/s.test(name) || path === 'out') continue;
    if (stat.isDirectory()) Object.assign(found, naive(root, path));
    else if (stat.isSymbolicLink())
      found[path] = `120000 ${blobOf(readlinkSync(encodeName(join(root, path)), { encoding: 'buffer' }))}`;
    else
      found[path] =
        `${stat.mode & 0o100 ? '100755' : '100644'} ${blobOf(readFileSync(encodeName(join(root, path))))}`;
  }
  return found;
}

function blobOf(bytes: Buffer): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

test(
  'whatever changes, what is captured is the difference to what a naive look finds',
  async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitignore', '*.log\n/out\n');
    scratch.commit();
    // A nested repository, of which nothing is to be seen.
    scratch.git('init', '--quiet', 'n');
    const workspace = await scratch.open();
    const known = new Map(Object.entries(naive(scratch.root)));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        for (const one of changes) perform(scratch, one);
        for (const { path, before, after } of await workspace.capture('all')) {
          expect(before === null ? undefined : `${before.mode} ${before.blob}`).toBe(known.get(path));
          if (after === null) known.delete(path);
          else known.set(path, `${after.mode} ${after.blob}`);
        }
        expect(Object.fromEntries(known)).toEqual(naive(scratch.root));
      }),
      { ...TREES, endOnFailure: true },
    );
  },
  MATRIX_MS,
);
