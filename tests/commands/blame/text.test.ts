import { expect, test } from 'vitest';
import { blameText } from '../../../src/commands/blame/blame.ts';
import type { ChangeSource, CodeChange } from '../../../src/domain/changes/change.ts';
import type { AttributedPatchFile } from '../../../src/engine/finish/attribution.ts';

const edited = { by: 'tool' as const, tool: 'edit_file', calls: ['e'] };
const ran = { by: 'tool' as const, tool: 'run_command', calls: ['c', 'd'] };

const change = (path: string, source: ChangeSource): CodeChange => ({
  path,
  kind: 'modify',
  before: null,
  after: null,
  source,
  iteration: 1,
});

function changedLine(path: string, source: typeof edited, ending: string): AttributedPatchFile {
  const sources = [{ ...source, iteration: 1 }];
  const line = (sign: '+' | '-') => ({ sign, at: 1, text: `${sign}${ending}`, sources });
  return {
    file: { path, kind: 'modify', additions: 1, deletions: 1 },
    sources,
    hunks: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, sources, lines: [line('-'), line('+')] }],
    cut: null,
  };
}

test('changes are numbered in the order of the run, commands that ran together share a number, and CR shows', () => {
  const files = [changedLine('a.txt', ran, ''), changedLine('b.txt', edited, '\r')];
  const history = [change('b.txt', edited), change('a.txt', ran)];
  const calls = new Map([
    ['e', 'edit_file b.txt'],
    ['c', 'run_command ls'],
  ]);
  expect(blameText(files, { history, calls, redact: (text) => text })).toBe(`[1]  turn 1  edit_file b.txt
[2]  turn 1  ran together:
       run_command ls
       run_command

M a.txt +1 −1  [2]
  @@ -1,1 +1,1 @@  [2]
  2 --
  2 ++

M b.txt +1 −1  [1]
  @@ -1,1 +1,1 @@  [1]
  1 --^M
  1 ++^M
`);
});
