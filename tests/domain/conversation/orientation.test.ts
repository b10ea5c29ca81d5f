import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type KnownRepository,
  MAX_ORIENTATION_CHARS,
  orientation,
} from '../../../src/domain/conversation/orientation.ts';
import { randomCases } from '../../support/setup/sample.ts';

const unknown: KnownRepository = { files: [], project: null, programs: [], hosts: [] };

test('of a large repository it names the largest folders and says what is left', () => {
  const files = Array.from({ length: 300 }, (_, n) =>
    Array.from({ length: n + 1 }, (_, at) => `package-${n}/${at}.ts`),
  ).flat();
  const text = orientation({ ...unknown, files: [...files, ...files.map((_, n) => `file-${n}.md`)] });
  expect(text.length).toBeLessThanOrEqual(MAX_ORIENTATION_CHARS);
  expect(text).toMatch(
    /^Tracked: 90,300 files\. package-299\/ 300, package-298\/ 299, .* and \d+ more folders; file-0\.md, .* and 45,\d+ more files\.\nNetwork: none\.$/,
  );
});

test('whatever the names are, it is short, starts no line of its own and hides nothing', () => {
  const odd = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\ud800', '\u202e', '#[x', '\n::error::x', '名'.repeat(80)),
  );
  const command = fc.option(odd, { nil: null });
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(odd, odd).map((parts) => parts.join('/')),
        { maxLength: 400 },
      ),
      fc.option(
        fc.record({
          ecosystem: fc.constant('Make'),
          manager: odd,
          test: command,
          lint: command,
          build: command,
        }),
        { nil: null },
      ),
      (files, project) => {
        const text = orientation({ files, project, programs: ['git'], hosts: [] });
        const letters = text.length + 3 * (text.match(/[^\0-\x7f]/g)?.length ?? 0);
        if (/^[\0-\x7f]*$/.test(JSON.stringify(project)))
          expect(letters).toBeLessThanOrEqual(MAX_ORIENTATION_CHARS);
        expect(text.split('\n').length).toBeLessThanOrEqual(5);
        expect(text).not.toMatch(/[\p{Surrogate}\u202e]|##\[/u);
      },
    ),
    { numRuns: randomCases(300) },
  );
});
