import { expect, test } from 'vitest';
import { Activities } from '../../../../src/adapters/sinks/progress/under-way.ts';

function open() {
  let now = 0;
  const activities = new Activities(() => now);
  /** The lines of `seconds` more, each printed as soon as it is due. */
  const linesOf = (seconds: number) => {
    const lines: string[] = [];
    for (let end = now + seconds * 1_000; now < end; ) {
      now += 1_000;
      const line = activities.heartbeat(now - printedAt);
      if (line === null) continue;
      lines.push(`${now / 1_000}: ${line}`);
      printedAt = now;
    }
    return lines;
  };
  let printedAt = 0;
  return { activities, linesOf };
}

test('what takes its time is named after five seconds, and again every thirty', () => {
  const { activities, linesOf } = open();
  const command = activities.begin({ label: 'run_command npm test', timeoutMs: 120_000 });
  expect(linesOf(70)).toEqual([
    '5: run_command npm test, limit 120 s …',
    '35: run_command npm test: 35 s so far, limit 120 s',
    '65: run_command npm test: 65 s so far, limit 120 s',
  ]);
  command.end();
  expect(linesOf(60)).toEqual([]);
});

test('announced work is named after thirty seconds of silence', () => {
  const { activities, linesOf } = open();
  activities.begin({ label: 'setup npm ci', isAnnounced: true });
  expect(linesOf(40)).toEqual(['30: setup npm ci: 30 s so far']);
});

test('an answer says how much of it is there', () => {
  const { activities, linesOf } = open();
  const waiting = activities.begin({ label: 'waiting for the model' });
  waiting.received(3_500);
  expect(linesOf(6)).toEqual(['5: waiting for the model, 3 KB received …']);
});

test('several activities are counted, except the one that contains them', () => {
  const { activities, linesOf } = open();
  const whole = activities.begin({ label: 'getting ready', isOuter: true });
  expect(activities.now().map(({ label }) => label)).toEqual(['getting ready']);
  const [one, two] = ['a', 'b'].map((label) => activities.begin({ label }));
  expect(activities.now().map(({ label }) => label)).toEqual(['a', 'b']);
  expect(linesOf(5)).toEqual(['5: a …, and 1 more']);
  one?.end();
  two?.end();
  whole.end();
  expect(activities.now()).toEqual([]);
});

test('an iteration begins with the request to the model', () => {
  const { activities } = open();
  activities.begin({ label: 'waiting for a summary' });
  expect(activities.hasTurn()).toBe(false);
  const turn = activities.begin({ label: 'waiting for the model', isTurn: true });
  expect(activities.hasTurn()).toBe(true);
  turn.end();
  expect(activities.hasTurn()).toBe(false);
});
