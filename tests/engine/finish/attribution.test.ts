import { chmodSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type AttributedPatchFile, provenanceOf } from '../../../src/engine/finish/attribution.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { linesOf, RecordedChanges } from './recorded-changes.ts';

function sourcesOf(files: readonly AttributedPatchFile[]): Record<string, string[]> {
  return Object.fromEntries(
    files.map(({ file, sources }) => [
      file.path,
      sources.map((one) => (one.by === 'tool' ? one.calls.join('+') : one.by)),
    ]),
  );
}

const TEXT = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n';

describe('every changed line of the patch names its calls', () => {
  test('a change that was undone again is not named', async () => {
    const run = new RecordedChanges({ 'a.txt': TEXT });
    await run.step((scratch) => scratch.write('a.txt', TEXT.replace('two', '2')));
    await run.step((scratch) => scratch.write('a.txt', TEXT));
    await run.step((scratch) => scratch.write('a.txt', TEXT.replace('seven', '7')));
    expect(linesOf(await run.attributed())).toEqual({ 'a.txt': ['-seven c3', '+7 c3'] });
  });

  test('a file keeps its past through a rename, and through a rename with an edit in one command', async () => {
    const run = new RecordedChanges({ 'a.txt': TEXT });
    await run.step((scratch) => scratch.write('a.txt', TEXT.replace('two', 'zwei')));
    await run.step((scratch) => scratch.move('a.txt', 'b.txt'));
    await run.step((scratch) => {
      scratch.remove('b.txt');
      scratch.write('c.txt', TEXT.replace('two', 'zwei').replace('seven', 'sieben'));
    });
    const files = await run.attributed();
    expect(linesOf(files)).toEqual({
      'c.txt': ['-two c1', '+zwei c1', '-seven c3', '+sieben c3'],
    });
    expect(files[0]?.file).toMatchObject({ kind: 'rename', from: 'a.txt' });
    expect(sourcesOf(files)).toEqual({ 'c.txt': ['c1', 'c2', 'c3'] });
  });

  test('created, deleted, binary, linked and executable files name theirs', async () => {
    const run = new RecordedChanges({
      'gone.txt': 'x\ny\n',
      'run.sh': '#!/bin/sh\n',
      'image.bin': Buffer.from([0, 1]),
      'becomes-link': 'a file\n',
    });
    await run.step((scratch) => scratch.write('new.txt', 'n\n'));
    await run.step((scratch) => scratch.remove('gone.txt'));
    await run.step((scratch) => chmodSync(scratch.path('run.sh'), 0o755));
    await run.step((scratch) => scratch.write('image.bin', Buffer.from([0, 2])));
    await run.step((scratch) => scratch.link('becomes-link', 'nowhere'));
    const files = await run.attributed();
    expect(linesOf(files)).toEqual({
      'becomes-link': ['-a file c5', '+nowhere c5'],
      'gone.txt': ['-x c2', '-y c2'],
      'image.bin': null,
      'new.txt': ['+n c1'],
      'run.sh': [],
    });
    expect(sourcesOf(files)).toEqual({
      'becomes-link': ['c5'],
      'gone.txt': ['c2'],
      'image.bin': ['c4'],
      'new.txt': ['c1'],
      'run.sh': ['c3'],
    });
  });

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
