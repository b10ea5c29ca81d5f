import { describe, expect, test } from 'vitest';
import { SeenLines } from '../../../src/domain/conversation/seen-files.ts';

describe('SeenLines', () => {
  test('a file is seen whole when its parts cover it, in any order', () => {
    const lines = new SeenLines();
    const seen = lines.forCall('call');
    expect(seen.coverage('a', 'v1')).toBe('none');
    seen.saw('a', 'v1', { from: 51, to: 100 }, 100);
    expect(seen.coverage('a', 'v1')).toBe('part');
    seen.saw('a', 'v1', { from: 1, to: 49 }, 100);
    expect(seen.coverage('a', 'v1')).toBe('part');
    seen.saw('a', 'v1', { from: 40, to: 60 }, 100);
    expect(seen.coverage('a', 'v1')).toBe('all');
  });

  test('another version of the file has not been seen', () => {
    const lines = new SeenLines();
    const seen = lines.forCall('call');
    seen.saw('a', 'v1', { from: 1, to: 1 }, 1);
    expect(seen.coverage('a', 'v2')).toBe('none');
    seen.wrote('a', 'v2');
    expect(seen.coverage('a', 'v2')).toBe('all');
    expect(seen.coverage('a', 'v1')).toBe('none');
  });
});
