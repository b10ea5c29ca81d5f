/**
 * Runs that others have put into the folder with the user's runs, for the commands that list, show, sum and remove
 * runs.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Aftermath, attacksIn, type Stage } from '../../attack.ts';
import { call, toDo } from '../../goals.ts';
import { stateOf, type Victim } from '../../victim.ts';
import { EVERYTHING, firstLive } from '../output.ts';

const SAID = '20250101-000000-aaaaaa';
const LINKED = '20250101-000001-bbbbbb';
const NOTED = '20250101-000002-cccccc';
/** In Unix seconds. */
const LONG_AGO = 1_000_000_000;

const folderOf = ({ home }: Victim) => join(home, '.local/state/patchsmith');

/** The same run, with the attacker's words wherever a result has words. */
function putHostileRun({ victim, run }: Pick<Aftermath, 'victim' | 'run'>): void {
  const folder = join(folderOf(victim), SAID);
  mkdirSync(folderOf(victim), { recursive: true, mode: 0o700 });
  cpSync(run.runDir, folder, { recursive: true });
  const result = JSON.parse(readFileSync(join(folder, 'result.json'), 'utf8'));
  const changed = {
    ...result,
    runId: SAID,
    reason: EVERYTHING,
    model: EVERYTHING,
    provider: EVERYTHING,
    summary: EVERYTHING,
    warnings: [EVERYTHING],
    plan: { ...result.plan, title: EVERYTHING },
  };
  writeFileSync(join(folder, 'result.json'), JSON.stringify(changed));
  const journal = join(folder, 'events.jsonl');
  writeFileSync(journal, readFileSync(journal, 'utf8').replace(/"runId":"[^"]*"/, `"runId":"${SAID}"`));
  // Old enough to be removed.
  for (const name of ['result.json', 'events.jsonl']) utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
}

/** Links and notes that lead out of the folder, and folders that are closed around them. */
function putWaysOut(victim: Victim): void {
  const folder = folderOf(victim);
  symlinkSync(victim.outside, join(folder, SAID, 'out'));
  mkdirSync(join(folder, SAID, 'scratch/closed/deep'), { recursive: true });
  symlinkSync(victim.outside, join(folder, SAID, 'scratch/closed/deep/out'));
  symlinkSync(victim.outside, join(folder, SAID, 'scratch/closed/out'));
  chmodSync(join(folder, SAID, 'scratch/closed'), 0);
  symlinkSync(victim.outside, join(folder, LINKED));
  writeFileSync(join(folder, `${NOTED}.elsewhere`), victim.outside);
}

async function goOn({ victim, run, cli }: Aftermath): Promise<void> {
  putHostileRun({ victim, run });
  putWaysOut(victim);
  for (const line of [['runs'], ['show', SAID], ['usage'], ['clean', '--older-than', '1d']]) {
    const end = await cli(line);
    victim.notes.push(`${line.join(' ')}: exit ${end.exitCode}\n${end.stdout}\n${end.stderr}`);
  }
}

export const FILLED_FOLDER: Stage = {
  name: 'foreign runs among the user’s',
  byOwner: true,
  prepare: (victim) => victim.put(join(victim.outside, 'precious.txt'), 'precious\n'),
  afterwards: goOn,
  attacks: [
    attacksIn('Files', 'foreign', 'descriptors')(
      'clean',
      'Links out of a run, closed folders around them, a link named like a run and a pointer to another place, for `clean` to remove',
      {
        watches: ({ outside }) => [outside],
        reached({ victim, before }) {
          if (stateOf(victim.outside) !== before(victim.outside)) return 'files outside are gone';
          return existsSync(join(folderOf(victim), SAID)) ? `the run is left: ${victim.notes.at(-1)}` : null;
        },
      },
      () => [[call('edit_file', { path: 'a.txt', find: 'a', replace: 'b' })]],
    ),
    attacksIn('Terminal and CI output', 'foreign', 'neutral')(
      'words',
      'All of these in the result of a run that others put among the user’s, for `runs`, `show`, `usage` and `clean`',
      toDo(({ victim: { notes } }) => {
        const ended = notes.filter((note) => / exit 0\n/.test(note)).length;
        return firstLive(notes.join('\n')) ?? (ended === notes.length ? null : notes.join('\n'));
      }),
    ),
  ],
};
