import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Moment, StatusLine, statusLine } from '../../../../src/adapters/sinks/progress/status-line.ts';
import { Screen } from '../../../support/machine/screen.ts';
import { limits } from '../../../support/runs/events.ts';
import { randomCases } from '../../../support/setup/sample.ts';
import { hostileText } from '../../../support/text/hostile-text.ts';

const standing = {
  iterations: 3,
  limits: { ...limits, deadlineMs: 1_800_000, maxCostUsd: 2 },
  startedAt: 0,
  costUsd: 0.123,
  isEstimated: false,
};

const moment: Moment = {
  standing,
  now: 125_000,
  doing: [{ label: 'run_command npm test', forMs: 12_400, timeoutMs: 60_000, detail: '' }],
};

test('no printed line is lost, and the status is gone at the end, however often the window is resized', async () => {
  const step = fc.oneof(
    fc.record({ print: fc.nat(200) }),
    fc.record({ label: fc.nat(200) }),
    fc.record({ columns: fc.integer({ min: 20, max: 170 }) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      const screen = new Screen(80, 50);
      let shown = Promise.resolve();
      let now = moment;
      const write = (text: string) => {
        shown = shown.then(() => screen.show(text));
      };
      const line = new StatusLine(
        { write, isBehind: () => false, size: () => screen.size },
        String,
        () => now,
      );
      const printed: string[] = [];
      for (const [at, each] of steps.entries()) {
        if ('print' in each) {
          printed.push(`${at} ${'-'.repeat(each.print)}`);
          line.print(printed.at(-1) ?? '');
        } else if ('label' in each) {
          now = {
            ...moment,
            doing: moment.doing.map((doing) => ({ ...doing, label: 'w'.repeat(each.label) })),
          };
          line.paint();
        } else {
          await shown;
          screen.resize(each.columns, 50);
          line.paint();
        }
      }
      line.end();
      await shown;
      expect(screen.lines()).toEqual(printed);
    }),
    { numRuns: randomCases(200) },
  );
});

test('the line fits the terminal and controls nothing, whatever is in it', () => {
  const doing = fc.record({
    label: fc.oneof(hostileText, fc.string({ unit: 'grapheme', maxLength: 300 })),
    forMs: fc.nat(9_000_000),
    timeoutMs: fc.option(fc.nat(9_000_000)),
    detail: fc.constantFrom('', '34 s left', '12 KB received'),
  });
  const moments = fc.record({
    standing: fc.constantFrom(standing, null),
    now: fc.nat(90_000_000),
    doing: fc.array(doing, { maxLength: 6 }),
  });
  fc.assert(
    fc.property(moments, fc.integer({ min: 10, max: 200 }), (each, columns) => {
      const line = statusLine(each, columns);
      expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]|##\[/);
      expect(line.length).toBeLessThanOrEqual(2 * columns);
    }),
  );
});

test('the line cuts the name of an activity, and never its time', () => {
  expect(statusLine(moment, 100)).toBe(
    '[3 of 25] 2:05 of 30:00 · $0.12 of $2.00 · run_command npm test · 12 s of 60 s',
  );
  const [first] = moment.doing;
  const doing = [1, 2].map(() => ({ ...first, label: `run_command ${'x'.repeat(300)}`, detail: '4 s left' }));
  expect(statusLine({ ...moment, doing } as Moment, 100)).toMatch(
    /run_command x+… · 12 s of 60 s · 4 s left and 1 more$/,
  );
});
