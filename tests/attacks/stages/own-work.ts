/** Attacks on the time and memory of the runner itself: contents, rules and turns designed to overwhelm it. */

import { join } from 'node:path';
import { IS_FULL } from '../../support/setup/sample.ts';
import { type Attack, attacksIn, type Stage } from '../attack.ts';
import { call, shell, toDo } from '../goals.ts';

const CATEGORY = 'Processes and resources';

/** In a file of nothing but line endings. */
const LINES = IS_FULL ? 4_000_000 : 1_500_000;

const byLimit = attacksIn(CATEGORY, 'own-work', 'limits', 'bounded');
const byBounds = attacksIn(CATEGORY, 'own-work', 'bounded');

/** A run that one attack ends, as `ends` says. */
function stage(
  name: string,
  ends: NonNullable<Stage['ends']>,
  attack: Attack,
  more: Pick<Stage, 'files' | 'args' | 'prepare' | 'diskBytes'> = {},
): Stage {
  return { name, ends, attacks: [attack], ...more };
}

/** To have the run end in any other way than for a reason that says this. */
const toEndWithout = (...words: readonly string[]) =>
  toDo(({ run: { result } }) =>
    words.every((word) => result.reason.includes(word)) ? null : `${result.outcome}: ${result.reason}`,
  );

export const OWN_WORK: readonly Stage[] = [
  stage(
    'sparse files that are too large to be read',
    'limit_reached',
    byLimit('sparse', 'Twenty sparse files of a gigabyte', toEndWithout('--max-changed-file-size'), () =>
      shell('for i in $(seq 20); do truncate -s 1G sparse-$i; done'),
    ),
  ),
  stage(
    'more files than a run may change',
    'limit_reached',
    byLimit(
      'files',
      'Thousands of small files, over the limit of changed files',
      toEndWithout('--max-changed-files'),
      () => shell('mkdir many && cd many && seq 3000 | split -l 1 -a 4'),
    ),
    { args: ['--max-changed-files', '100'] },
  ),
  stage(
    'what the runner keeps fills the disk',
    'limit_reached',
    byLimit(
      'disk',
      'Contents that fit into the work tree but fill the shadow repository',
      toEndWithout('--max-disk'),
      () => shell('for i in 1 2 3; do head -c 6000000 /dev/urandom > grown-$i; done'),
    ),
    { args: ['--max-disk', '24m'], diskBytes: 256 * 1024 * 1024 },
  ),
  stage(
    'ignore rules that take hours',
    'deadline',
    {
      ...byBounds(
        'ignore',
        'An ignore file that repeats `**/a/`, and nested folders',
        toEndWithout('--deadline'),
      ),
      heldBy: ['deadline'],
    },
    {
      files: { '.gitignore': `${'**/a/'.repeat(12)}x\n` },
      args: ['--deadline', '4s'],
      prepare(victim) {
        victim.put(join(victim.root, ...Array.from({ length: 120 }, () => 'a'), 'file'), 'x\n');
      },
    },
  ),
  stage(
    'an answer larger than any that a model can give',
    'provider_error',
    byBounds(
      'write',
      'One `write_file` of megabytes of short lines',
      toEndWithout('exceeds the limit of 4,194,304 bytes'),
      () => [[call('write_file', { path: 'lines.txt', content: 'short\n'.repeat(1_000_000) })]],
    ),
  ),
  {
    name: 'contents that are too large',
    files: { '.gitignore': 'grown*\n' },
    attacks: [
      byBounds(
        'calls',
        'A turn of a thousand calls',
        toDo(({ results }) => {
          const run = results.filter(
            (result) => result.status !== 'failed' || result.reason !== 'too_many_calls',
          );
          return results.length === 1000 && run.length <= 128 ? null : `${run.length} calls were run`;
        }),
        () => [Array.from({ length: 1000 }, () => call('read_file', { path: 'README.md' }))],
      ),
      byBounds(
        'reads',
        'Sixteen reads at a time of a file of 31 MB',
        toDo(({ results }) => {
          const let_in = results
            .slice(1)
            .filter(({ text }) => !text.includes('files over 8,388,608 bytes are not read whole'));
          return results.length === 17 && let_in.length === 0
            ? null
            : `${let_in.length} reads of a large file`;
        }),
        () => [
          ...shell('yes short | head -c 31000000 > grown'),
          Array.from({ length: 16 }, (_, at) =>
            call('read_file', { path: 'grown', offset: at + 1, limit: 1 }),
          ),
        ],
      ),
      byBounds(
        'lines',
        'A file of megabytes with only line endings, so that each byte is a line',
        toDo(({ run: { result } }) => {
          const added = result.changedFiles.find(({ path }) => path === 'lines.txt')?.additions;
          return result.outcome === 'done' && added === LINES ? null : `${result.outcome}: ${added} lines`;
        }),
        () => shell(`head -c ${LINES} /dev/zero | tr '\\0' '\\n' > lines.txt`),
      ),
    ],
  },
];
