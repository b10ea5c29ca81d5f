import { expect, test } from 'vitest';
import { ScratchCheckout } from '../scratch-checkout.ts';

test('a change within the second in which the file was committed is seen, though git compares seconds', async () => {
  for (const round of ['first', 'again', 'third']) {
    const scratch = new ScratchCheckout();
    scratch.write('a', 'one\n');
    scratch.write('b', 'one\n');
    scratch.commit(round);
    const workspace = await scratch.open();
    scratch.writeInPlace('a', 'two\n');
    const [change, ...more] = await workspace.capture('all');
    expect([change?.path, more]).toEqual(['a', []]);
    // The file may get the same inode again.
    scratch.remove('b');
    expect(await workspace.capture('all')).toMatchObject([{ path: 'b', after: null }]);
    scratch.write('b', 'one\n');
    expect(await workspace.capture('all')).toMatchObject([{ path: 'b', before: null }]);
  }
});
