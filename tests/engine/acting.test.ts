import { expect, test } from 'vitest';
import { type ActingPorts, acting } from '../../src/engine/acting.ts';

const progress = {
  begin: () => ({ received() {}, waits() {}, end() {} }),
  during: async <T>(_: unknown, work: () => Promise<T>) => work(),
};

test('nothing is done unless the journal is written first', async () => {
  const full = () => {
    throw new Error('no space');
  };
  const never = () => Promise.reject(new Error('it was done'));
  const outside = { isOutside: true, execute: never } as unknown as ActingPorts['tools'][number];
  const acts = acting(
    {
      tools: [outside],
      provider: { complete: never },
      sandbox: { run: never },
      verifyPlace: { kind: 'worktree', open: never },
      workspace: { writeFile: never, putBack: never },
    } as unknown as ActingPorts,
    { progress, sync: full },
  );
  const anything = {} as never;
  for (const act of [
    () => acts.provider.complete(anything),
    () => acts.sandbox.run(anything),
    () => acts.verifyPlace.open([], anything),
    () => acts.workspace.writeFile(anything, anything),
    () => acts.workspace.putBack([], []),
    () => acts.tools[0]?.execute(anything, anything),
  ])
    await expect(act()).rejects.toThrow('no space');
});
