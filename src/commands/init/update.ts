/** `patchsmith init --update`: renews the commit of the workflow that workflows call, shows it, and changes nothing else in them. */

import type { RepoPath } from '../../domain/changes/path.ts';
import { done, noChange, type RunOutcome, usageError } from '../../domain/run/outcome.ts';
import { pluralize, sentence } from '../../domain/text/words.ts';
import { readFile, writeFile } from '../../files/nofollow-files.ts';
import { viewing } from '../../files/tree-view.ts';
import { calledIn, pinned, releasePin, type WorkflowPin } from './calling-workflow.ts';

const FOLDER = '.github/workflows';
const MAX_BYTES = 1_000_000;

/** `named` is the action on the command line; null for the release that is installed. */
export function updateCalls(
  root: string,
  named: WorkflowPin | null,
  say: (line: string) => void,
): RunOutcome {
  const pin = named ?? releasePin();
  if (pin === null) return unknownCommit('This is a build from a checkout, which no workflow can call.');
  const listing = viewing(root, (view) => view.listFolder(FOLDER));
  const names = listing.status === 'seen' ? listing.entries.map(({ name }) => name).sort() : [];
  let calls = 0;
  let renewed = 0;
  for (const name of names.filter((one) => /\.ya?ml$/.test(one))) {
    const path = `${FOLDER}/${name}` as RepoPath;
    const read = readFile(root, path, MAX_BYTES);
    if (read.status !== 'ok') continue;
    // Byte for byte: a call is ASCII, and the rest is not ours.
    const text = read.bytes.toString('latin1');
    const called = calledIn(text);
    const other = called.find((repository) => named === null && repository !== pin.repository);
    if (other !== undefined)
      return unknownCommit(`${path} calls ${other}, and this is a release of ${pin.repository}.`);
    calls += called.length;
    const now = pinned(text, pin);
    if (now === text) continue;
    const written = writeFile(root, path, Buffer.from(now, 'latin1'));
    if (written.status !== 'ok')
      return usageError('ERR_TEMPLATE_UNWRITTEN', sentence(`${path} cannot be written: ${written.message}`));
    renewed += 1;
    say(path);
    const lines = now.split('\n');
    for (const [at, line] of text.split('\n').entries())
      if (line !== lines[at]) for (const one of [`-${line}`, `+${lines[at]}`]) say(one.trimEnd());
  }
  if (renewed > 0) return done(`${pluralize(renewed, 'workflow')} renewed. Review and commit the change.`);
  return noChange(
    calls > 0 ? 'Every call has this commit already.' : `No workflow in ${FOLDER} calls patchsmith's.`,
  );
}

function unknownCommit(why: string): RunOutcome {
  return usageError(
    'ERR_NO_RELEASE',
    `${why} Name a commit that you have reviewed: patchsmith init --update OWNER/patchsmith@COMMIT.`,
  );
}
