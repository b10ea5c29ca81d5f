import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { at, ScratchCheckout } from '../scratch-checkout.ts';

function committed(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('a.txt', 'one\n');
  scratch.write('folder/b.txt', 'two\n');
  scratch.commit();
  return scratch;
}

/** Does what a run does, and then takes the checkout away. Returns all objects of the base that the run has kept, by name. */
async function keptOf(scratch: ScratchCheckout): Promise<string> {
  const workspace = await scratch.open(scratch.root, { keepsBase: true });
  await workspace.writeFile(at('a.txt'), Buffer.from('three\n'));
  await workspace.keepEssentials(await workspace.capture('all'));
  rmSync(join(scratch.root, '.git'), { recursive: true });
  const { tree } = workspace.base();
  return scratch.gitIn(scratch.folder, `--git-dir=${scratch.shadow}`, 'rev-list', '--objects', tree);
}

const NAMES = /^\w{40} \n\w{40} a.txt\n\w{40} folder\n\w{40} folder\/b.txt\n$/;

test('the objects of the base are kept, loose or packed, and contents that no one had added', async () => {
  const scratch = committed();
  scratch.git('repack', '-q', '-a', '-d');
  scratch.write('a.txt', 'loose\n');
  scratch.commit();
  scratch.write('folder/b.txt', 'not added\n');
  expect(await keptOf(scratch)).toMatch(NAMES);
});

test('a base that cannot be kept is a warning', async () => {
  const scratch = committed();
  const workspace = await scratch.open(scratch.root, { keepsBase: true });
  rmSync(join(scratch.root, '.git/objects'), { recursive: true });
  const changes = await workspace.capture('all');
  await workspace.keepEssentials(changes).catch(() => undefined);
  expect(workspace.notes().warnings).toContainEqual(
    expect.stringMatching(/^\[WARN_BASE_NOT_KEPT\] The run cannot be replayed without this checkout: /),
  );
});
