import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunResult } from '../../../src/domain/run/result.ts';
import { cutRun, cutsOf } from '../../support/runs/recorded-run.ts';
import { call, command } from '../../support/runs/scripted-run.ts';
import { MATRIX_MS } from '../../support/setup/sample.ts';

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'theirs.txt': 't\n' };

const TURNS = [
  { calls: [call('edit_file', { path: 'a.txt', find: 'two', replace: 'zwei' })] },
  // The answer takes longer than a tick of the file system's clock.
  { ...command('sed -i s/zwei/ZWEI/ a.txt; echo new > new.txt'), pings: 3, gapMs: 25 },
  { text: 'Done.' },
];

/** Who made what, without the ids of calls: one that was interrupted is called again under another id. */
function makersIn({ provenance }: RunResult) {
  const names = (sources: readonly { by: string; tool?: string }[]) =>
    sources.map(({ by, tool }) => tool ?? by);
  return provenance?.files.map(({ path, sources, hunks, cut }) => ({
    path,
    sources: names(sources),
    hunks: hunks?.map((hunk) => names(hunk.sources)),
    cut,
  }));
}

test(
  'a run that is carried on knows who had changed what, what was red before, and whether foreign changes count',
  async () => {
    const asked = ['--verify', 'echo FAIL old; exit 3', '--verify-baseline', '--include-foreign'];
    const meddle = (root: string, answer: number) => {
      if (answer === 1) writeFileSync(join(root, 'theirs.txt'), 'foreign\n');
    };
    const run = await cutRun(FILES, TURNS, asked, meddle, { all: true });
    const both = ['edit_file', 'run_command'];
    const made = [
      { path: 'a.txt', sources: both, hunks: [both], cut: null },
      { path: 'new.txt', sources: ['run_command'], hunks: [['run_command']], cut: null },
      { path: 'theirs.txt', sources: ['outside'], hunks: [['outside']], cut: null },
    ];
    expect([run.result.outcome, makersIn(run.result)]).toEqual(['done', made]);

    const isForeign = run.events.findIndex(
      (event) =>
        event.type === 'change.recorded' && event.changes.every(({ source }) => source.by === 'outside'),
    );
    const cuts = cutsOf(run.events.slice(isForeign)).map(({ seq }) => seq);
    const ends: unknown[] = [];
    for (const seq of cuts) {
      run.goBackTo(seq);
      const end = await run.resume({ today: ['--include-foreign'] });
      if (typeof end === 'string') throw new Error(end);
      const { outcome, preexistingFailures } = end.result;
      ends.push([seq, outcome, end.patch, makersIn(end.result), preexistingFailures]);
      if (end.events.filter(({ type, seq: at }) => type === 'verify.completed' && at > seq).length > 0)
        expect(end.stderr).toMatch(/exit code 3 .*, as before the work\n/);
    }
    expect(cuts.length).toBeGreaterThan(3);
    expect(ends).toEqual(cuts.map((seq) => [seq, 'done', run.patch, made, ['echo FAIL old; exit 3']]));
  },
  MATRIX_MS,
);
