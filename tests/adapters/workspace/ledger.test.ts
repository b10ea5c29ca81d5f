import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type FoundChange, toCodeChanges } from '../../../src/domain/changes/change.ts';
import { ChangeLedger } from '../../../src/domain/changes/ledger.ts';
import type { CaptureScope, Workspace } from '../../../src/ports/workspace.ts';
import { IS_FULL } from '../../support/setup/sample.ts';
import { at, ScratchCheckout } from './scratch-checkout.ts';

const PATHS = ['a', 'b', 'a/b', 'a/c', 'b/c/d', 'e\udcff', 'f g', 'ignored', 'b/ignored'];

const isIgnored = (path: string) => path.endsWith('ignored');

const act = fc.oneof(
  fc.record({
    do: fc.constant('write' as const),
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('', 'x\n', 'y\n', 'long\n'.repeat(9)),
    executable: fc.boolean(),
  }),
  fc.record({
    do: fc.constant('link' as const),
    path: fc.constantFrom(...PATHS),
    text: fc.constantFrom('a', 'x\n', 'nowhere'),
  }),
  fc.record({ do: fc.constant('remove' as const), path: fc.constantFrom(...PATHS) }),
  fc.record({
    do: fc.constant('move' as const),
    path: fc.constantFrom(...PATHS),
    to: fc.constantFrom(...PATHS),
  }),
);
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never;

const step = fc.oneof(
  { weight: 4, arbitrary: act },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('look' as const), everywhere: fc.boolean() }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      path: fc.constantFrom(...PATHS),
      text: fc.constantFrom('', 'x\n', 'y\n'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('command' as const), acts: fc.array(act, { maxLength: 4 }) }),
  },
);

function perform(scratch: ScratchCheckout, taken: Act): void {
  const [top = ''] = taken.path.split('/');
  switch (taken.do) {
    case 'write':
      scratch.clearWay(taken.path);
      scratch.write(taken.path, taken.text, taken.executable ? 0o755 : 0o644);
      return;
    case 'link':
      scratch.clearWay(taken.path);
      scratch.link(taken.path, taken.text);
      return;
    case 'remove':
      scratch.remove(taken.path);
      return;
    case 'move':
      if (top !== taken.to.split('/')[0]) scratch.move(taken.path, taken.to);
  }
}

/** Records what tools and commands do, as the executor does, and finds every write among it. */
class Recorder {
  readonly ledger = new ChangeLedger();
  readonly #scratch: ScratchCheckout;
  readonly #workspace: Workspace;

  constructor(scratch: ScratchCheckout, workspace: Workspace) {
    this.#scratch = scratch;
    this.#workspace = workspace;
  }

  async look(scope: CaptureScope): Promise<void> {
    this.#record(await this.#workspace.capture(scope));
  }

  async call(path: string, text: string): Promise<void> {
    await this.look([path]);
    const write = await this.#workspace.writeFile(at(path), Buffer.from(text));
    if (write.status === 'failed') return;
    const changes = await this.#workspace.capture([path]);
    const unseen = changes.some((change) => change.path === path)
      ? []
      : [write.unseen].filter((one) => one !== null);
    expect([...changes, ...unseen].map((change) => change.path)).toContain(path);
    expect(unseen.every(({ excluded }) => (excluded === 'ignored') === isIgnored(path))).toBe(true);
    this.#record([...changes, ...unseen]);
  }

  async command(acts: readonly Act[]): Promise<void> {
    await this.look('all');
    for (const taken of acts) perform(this.#scratch, taken);
    await this.look('after_commands');
  }

  #record(changes: readonly FoundChange[]): void {
    const source = { by: 'tool' as const, tool: 'write_file', calls: ['call'] };
    for (const change of toCodeChanges(changes, source, 1)) this.ledger.record(change);
  }
}

test('for any sequence of changes, every write is recorded, and the net of the ledger is the difference of the trees', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { maxLength: 12 }),
      fc.array(step, { minLength: 1, maxLength: 14 }),
      fc.boolean(),
      async (before, steps, isTracked) => {
        const scratch = new ScratchCheckout();
        try {
          scratch.write('.git/info/exclude', 'ignored\n');
          for (const taken of before) perform(scratch, taken);
          // Files and folders that are older than the last look need not be looked at again.
          const pause = () => (isTracked ? sleep(6) : undefined);
          await pause();
          if (isTracked) scratch.git('add', '--all');
          await pause();
          const workspace = await scratch.open();
          const recorder = new Recorder(scratch, workspace);
          let touched: string[] = [];
          for (const taken of steps) {
            if (taken.do === 'call') await recorder.call(taken.path, taken.text);
            else if (taken.do === 'command') await recorder.command(taken.acts);
            else if (taken.do === 'look') {
              await recorder.look(taken.everywhere ? 'all' : touched);
              touched = [];
              await pause();
            } else {
              perform(scratch, taken);
              touched.push(taken.path, ...(taken.do === 'move' ? [taken.to] : []));
            }
          }
          await recorder.look('all');
          const made = await workspace.makePatch(recorder.ledger.net());
          if (made.status === 'failed') throw new Error(made.message);
          const { patch } = made;
          // The same tree, had it been the start.
          expect((await scratch.open()).base().tree).toBe(patch.tree);
        } finally {
          scratch.close();
        }
      },
    ),
    { numRuns: IS_FULL ? 40 : 5 },
  );
});
