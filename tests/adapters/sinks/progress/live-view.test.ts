import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { frameOf, type Moment } from '../../../../src/adapters/sinks/progress/frame.ts';
import { LiveView } from '../../../../src/adapters/sinks/progress/live-view.ts';
import { noUsage } from '../../../../src/domain/conversation/conversation.ts';
import { Screen } from '../../../support/machine/screen.ts';
import { limits } from '../../../support/runs/events.ts';
import { randomCases } from '../../../support/setup/sample.ts';
import { hostileText } from '../../../support/text/hostile-text.ts';

const standing = {
  iterations: 3,
  limits: { ...limits, deadlineMs: 1_800_000, maxCostUsd: 2, maxTotalTokens: 500_000 },
  startedAt: 0,
  usage: { ...noUsage, output: 41_200 },
  costUsd: 0.123,
  isEstimated: false,
};

const moment: Moment = {
  standing,
  now: 125_000,
  doing: [{ label: 'run_command npm test', forMs: 12_400, timeoutMs: 60_000, detail: '' }],
  words: 'I run the tests.',
  changed: { count: 3, last: ['src/b.ts', 'src/a.ts', 'README.md'] },
};

/** A view on a screen; `resize` tells it as late as a terminal does. */
async function open(columns: number, rows = 24) {
  const screen = new Screen(columns, rows);
  let now = moment;
  let shown = Promise.resolve();
  let listener = () => {};
  const view = new LiveView({
    terminal: {
      write: (text) => {
        shown = shown.then(() => screen.show(text));
      },
      isBehind: () => false,
      size: () => screen.size,
      onResize: (onChange) => {
        listener = onChange;
        return () => {};
      },
      breaksLines: true,
    },
    dim: String,
    moment: () => now,
  });
  return {
    view,
    change: (part: Partial<Moment>) => {
      now = { ...now, ...part };
    },
    async resize(...size: [number, number]) {
      await shown;
      screen.resize(...size);
      listener();
    },
    async lines() {
      await shown;
      return screen.lines();
    },
  };
}

test('lines scroll by above the view, and the final state stays when the run ends', async () => {
  const { view, lines, change } = await open(80);
  view.print('one');
  view.print('two');
  const frame = [
    '── iteration 3 of 25 · 2:05 of 30:00 · $0.12 of $2.00 · 41,200 of 500,000 tokens',
    '  › run_command npm test · 12 s of 60 s',
    '  │ I run the tests.',
    '  changed: src/b.ts, src/a.ts, README.md',
  ];
  expect(await lines()).toEqual(['one', 'two', `${frame[0]?.slice(0, 78)}…`, ...frame.slice(1)]);
  change({ doing: [], words: '' });
  view.paint();
  view.print('three');
  expect(await lines()).toEqual(['one', 'two', 'three', `${frame[0]?.slice(0, 78)}…`, frame[3]]);
  view.end();
  expect(await lines()).toEqual(['one', 'two', 'three', frame[0]]);
});

test('no line is lost, whatever is printed and however often the window is resized', async () => {
  const step = fc.oneof(
    fc.record({ print: fc.nat(200) }),
    fc.record({ words: fc.nat(200) }),
    fc.record({ columns: fc.integer({ min: 20, max: 170 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const { view, lines, change, resize } = await open(80, 50);
      const printed: string[] = [];
      for (const [at, each] of steps.entries()) {
        if ('print' in each) {
          printed.push(`${at} ${'-'.repeat(each.print)}`);
          view.print(printed.at(-1) ?? '');
        } else if ('words' in each) {
          change({ words: 'w'.repeat(each.words) });
          view.paint();
        } else {
          await resize(each.columns, 50);
          view.paint();
        }
      }
      view.end();
      expect((await lines()).slice(0, printed.length)).toEqual(printed);
      expect((await lines()).length).toBe(printed.length + 1);
    }),
    { numRuns: randomCases(200) },
  );
});

describe('a frame', () => {
  test('fits the terminal, whatever is in it', async () => {
    const texts = fc.oneof(hostileText, fc.string({ unit: 'grapheme', maxLength: 300 }));
    const doing = fc.record({
      label: texts,
      forMs: fc.nat(9_000_000),
      timeoutMs: fc.option(fc.nat(9_000_000)),
      detail: fc.constantFrom('', '34 s left', '12 KB received'),
    });
    const moments = fc.record({
      standing: fc.constantFrom(standing, null),
      now: fc.nat(90_000_000),
      doing: fc.array(doing, { maxLength: 6 }),
      words: texts,
      changed: fc.array(fc.string(), { maxLength: 20 }).map((last) => ({ count: last.length + 5, last })),
    });
    const sizes = fc.record({
      columns: fc.integer({ min: 30, max: 200 }),
      rows: fc.integer({ min: 2, max: 50 }),
    });
    await fc.assert(
      fc.asyncProperty(moments, sizes, async (each, size) => {
        const screen = new Screen(size.columns, 50);
        const frame = frameOf(each, size);
        expect(frame.length).toBeLessThanOrEqual(Math.max(1, size.rows - 2));
        for (const line of frame) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|##\[/);
        await screen.show(frame.map((line) => `${line}\n`).join(''));
        expect(screen.lines().length).toBeLessThanOrEqual(frame.length);
      }),
    );
  });

  test('cuts the name of an activity, and never its time', () => {
    const label = `run_command ${'x'.repeat(300)}`;
    const doing = [1, 2, 3, 4, 5].map((n) => ({
      label,
      forMs: n * 1_000,
      timeoutMs: null,
      detail: '4 s left',
    }));
    const lines = frameOf({ ...moment, doing, words: '' }, { columns: 60, rows: 24 });
    expect(lines.slice(1, 4).map((line) => line.slice(-24))).toEqual([
      'xxxxxx… · 1 s · 4 s left',
      'xxxxxx… · 2 s · 4 s left',
      ' s · 4 s left and 2 more',
    ]);
  });
});
