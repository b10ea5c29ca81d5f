/**
 * `npm run bench:looks -- JOURNAL…`: how many calls the model of a run made before its first edit, and how many of these the first
 * message had answered already. Journals are the `events.jsonl` of run directories.
 */

import { argv, stdout } from 'node:process';
import { readJournal } from '../src/adapters/storage/read-journal.ts';
import { looksIn } from './count-looks.ts';

const total = { before: 0, answered: 0 };
for (const path of argv.slice(2)) {
  const read = await readJournal(path);
  if (read.status === 'failed') throw new Error(`${path}: ${read.message}`);
  const { before, answered } = looksIn(read.events);
  stdout.write(`${answered} of ${before} ${path}\n`);
  total.before += before;
  total.answered += answered;
}
stdout.write(`${total.answered} of ${total.before} calls before the first edit were answered already\n`);
