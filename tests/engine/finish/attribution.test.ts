import { describe, expect, test } from 'vitest';
import { provenanceOf } from '../../../src/engine/finish/attribution.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { linesOf, RecordedChanges } from './recorded-changes.ts';

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';

describe('every changed line of the patch names its calls', () => {
  test('a state that is too large to examine is reported, and its lines name all changes to the file', async () => {
    const run = new RecordedChanges({ 'a.txt': TEXT });
    await run.step((scratch) => scratch.write('a.txt', 'x'.repeat(1_100_000)));
    await run.step((scratch) => scratch.write('a.txt', TEXT.replace('two', 'zwei')));
    const [file] = await run.attributed();
    expect(file?.cut).toContain('larger than 1 MiB');
    expect(linesOf(file ? [file] : [])).toEqual({ 'a.txt': ['-two c1,c2', '+zwei c1,c2'] });
  });

  testAtNight('a patch of 1,500 files is shown in part, and says so', async () => {
    const run = new RecordedChanges({});
    await run.step((scratch) => {
      for (let nth = 1_000; nth < 2_500; nth += 1) scratch.write(`many/${nth}.txt`, `${nth}\n`);
    });
    const provenance = provenanceOf(await run.attributed());
    expect(provenance.files).toHaveLength(1_000);
    expect(provenance.filesLeftOut).toBe(500);
    expect(provenance.files[0]).toEqual({
      path: 'many/1000.txt',
      sources: [{ by: 'tool', tool: 'run_command', calls: ['c1'], iteration: 1 }],
      hunks: [
        {
          oldStart: 0,
          oldLines: 0,
          newStart: 1,
          newLines: 1,
          sources: [{ by: 'tool', tool: 'run_command', calls: ['c1'], iteration: 1 }],
        },
      ],
      cut: null,
    });
  });
});
