import { expect, test } from 'vitest';
import { watchCommands } from '../../../src/engine/open/watch-commands.ts';

test('a command that goes on for long is named again and again, with the time it has taken, until it ends', async () => {
  const lines: unknown[] = [];
  let ended = () => {};
  await new Promise<void>((resolve) => {
    const progress = {
      commandGoesOn(...line: unknown[]) {
        lines.push(line);
        if (lines.length === 3) resolve();
      },
      commandBefore: (_kind: string, report: unknown) => void lines.push(report),
    };
    const end = watchCommands(progress, 'setup', 600_000, 1)('npm ci');
    ended = () => end(REPORT);
  });
  ended();
  expect(lines).toEqual([
    ['setup', 'npm ci'],
    ['setup', 'npm ci', expect.any(Number), 600_000],
    ['setup', 'npm ci', expect.any(Number), 600_000],
    REPORT,
  ]);
});

const REPORT = {
  command: 'npm ci',
  end: { exitCode: 0, signal: null, timedOut: false, interrupted: false, durationMs: 1 },
  output: '',
};
