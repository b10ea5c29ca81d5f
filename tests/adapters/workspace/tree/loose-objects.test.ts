import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { at, ScratchCheckout } from '../scratch-checkout.ts';

/** A checkout in whose store git would find many loose objects. */
function loose(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('a.txt', 'one\n');
  scratch.write('folder/b.txt', 'two\n');
  scratch.commit();
  return scratch;
}

function plantMany(scratch: ScratchCheckout): void {
  const sample = join(scratch.root, '.git/objects/17');
  mkdirSync(sample, { recursive: true });
  for (let at = 0; at < 27; at += 1) writeFileSync(join(sample, `${at}`.padStart(38, '0')), '');
}

/** Does what a run does, and then takes the checkout away. Returns all objects of the base that the run has kept, by name. */
async function keptOf(scratch: ScratchCheckout): Promise<string> {
  const workspace = await scratch.open(scratch.root, { keepsBase: true });
  await workspace.writeFile(at('a.txt'), Buffer.from('three\n'));
  const made = await workspace.makePatch(await workspace.capture('all'));
  expect(made.status).toBe('proven');
  rmSync(join(scratch.root, '.git'), { recursive: true });
  const { tree } = workspace.base();
  return scratch.gitIn(scratch.folder, `--git-dir=${scratch.shadow}`, 'rev-list', '--objects', tree);
}

function packsOf(scratch: ScratchCheckout): string[] {
  return readdirSync(join(scratch.shadow, 'objects/pack')).filter((name) => name.endsWith('.pack'));
}

const NAMES = /^\w{40} \n\w{40} a.txt\n\w{40} folder\n\w{40} folder\/b.txt\n$/;

test('a run keeps the base for itself where the objects of the checkout are loose, without packing them', async () => {
  const scratch = loose();
  plantMany(scratch);
  expect(await keptOf(scratch)).toMatch(NAMES);
  expect(packsOf(scratch)).toEqual([]);
  // Only what the base has: whatever else is in the store is not the run's to hand on.
  expect(readdirSync(join(scratch.shadow, 'objects/17'))).toEqual([]);
});

test('contents that no one had added are kept with the others', async () => {
  const scratch = loose();
  plantMany(scratch);
  scratch.write('folder/b.txt', 'not added\n');
  expect(await keptOf(scratch)).toMatch(NAMES);
  expect(packsOf(scratch)).toEqual([]);
});

test('what is packed in the checkout is packed for the run, however many loose objects there are', async () => {
  const scratch = loose();
  scratch.git('repack', '-q', '-a', '-d');
  plantMany(scratch);
  expect(await keptOf(scratch)).toMatch(NAMES);
  expect(packsOf(scratch)).toHaveLength(1);
});

test('a few loose objects are packed', async () => {
  const scratch = loose();
  expect(await keptOf(scratch)).toMatch(NAMES);
  expect(packsOf(scratch)).toHaveLength(1);
});

test('a base that cannot be kept is a warning', async () => {
  const scratch = loose();
  const workspace = await scratch.open(scratch.root, { keepsBase: true });
  rmSync(join(scratch.root, '.git/objects'), { recursive: true });
  const changes = await workspace.capture('all');
  await workspace.makePatch(changes).catch(() => undefined);
  expect(workspace.notes().warnings).toContainEqual(
    expect.stringMatching(/^\[WARN_BASE_NOT_KEPT\] The run cannot be replayed without this checkout: /),
  );
});
