import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deletionsFirst } from '../../../src/domain/changes/change.ts';

test('deletions come before everything else, and otherwise the order stays', () => {
  const item = fc.record({ path: fc.nat(), state: fc.option(fc.constant({})) });
  fc.assert(
    fc.property(fc.array(item), (items) => {
      const ordered = deletionsFirst(items, ({ state }) => state);
      const [gone, put] = [items.filter(({ state }) => !state), items.filter(({ state }) => state)];
      expect(ordered).toEqual([...gone, ...put]);
    }),
  );
});
