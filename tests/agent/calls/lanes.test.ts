import { describe, expect, test } from 'vitest';
import { lanesOf } from '../../../src/agent/tool-executor.ts';
import type { Lane } from '../../../src/domain/conversation/tool.ts';

const lanes = (...calls: [Lane, string?][]) =>
  lanesOf(calls.map(([lane, target]) => ({ lane, target: target ?? null }))).map((lane) => lane.length);

describe('the calls of one turn', () => {
  test('neighbours of one kind run together, a change of kind is a barrier', () => {
    expect(lanes(['read'], ['read'], ['command'], ['command'], ['read'])).toEqual([2, 2, 1]);
  });

  test('what is asked outside shares no lane with commands, so that what each has changed is known', () => {
    const command = (isOutside: boolean) => ({ lane: 'command', isOutside }) as const;
    expect(lanesOf([command(false), command(true), command(true)]).map((lane) => lane.length)).toEqual([
      1, 2,
    ]);
  });

  test('writes run together only while their paths differ', () => {
    expect(lanes(['write', 'a'], ['write', 'b'], ['write', 'a'])).toEqual([2, 1]);
    expect(lanes(['write', 'a'], ['write', 'a/b'])).toEqual([1, 1]);
    expect(lanes(['write', 'a'], ['write', 'ab'])).toEqual([2]);
  });

  test('those that may find images are held in small numbers', () => {
    expect(lanes(...Array.from({ length: 40 }, () => ['read'] as [Lane]))).toEqual([16, 16, 8]);
    expect(lanes(...Array.from({ length: 40 }, () => ['command'] as [Lane]))).toEqual([40]);
  });

  test('the end of the work is always alone', () => {
    expect(lanes(['read'], ['finish'], ['finish'], ['read'])).toEqual([1, 1, 1, 1]);
  });
});
