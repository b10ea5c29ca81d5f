import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ScratchCheckout } from '../scratch-checkout.ts';

function committed(): ScratchCheckout {
  const scratch = new ScratchCheckout();
  scratch.write('a.txt', 'one\n');
  scratch.write('folder/b.txt', 'two\n');
  scratch.commit();
  return scratch;
}

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
