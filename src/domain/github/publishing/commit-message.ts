/** The message of a commit that publishes a run, and what it says about the commit's origin. */

import { plainLine } from './plain-text.ts';

/** The origin of a patchsmith commit, according to its trailers. */
export interface CommitOrigin {
  readonly runId: string;
  /** Id of the commit's own tree: amending the commit changes the tree but not this trailer. */
  readonly tree: string;
  /** Branch that the work is to be merged into; null if the commit does not state it. */
  readonly base: string | null;
}

/** Maximum characters of the first line. GitHub folds longer ones. */
const MAX_SUBJECT = 72;

/** `title` is text from outside; in the message it cannot close an issue, skip checks or imitate a trailer. */
export function commitMessage(title: string, { runId, tree, base }: CommitOrigin): string {
  const subject = plainLine(title, MAX_SUBJECT) || 'Changes of a run';
  return `${subject}\n\n${RUN}: ${plainLine(runId, 200)}\n${TREE}: ${tree}\n${base === null ? '' : `${BASE}: ${plainLine(base, 300)}\n`}`;
}

/** The origin stated in the last paragraph; null unless it states run and tree exactly once each. */
export function originOfCommit(message: string): CommitOrigin | null {
  const last = message
    .replace(/\r\n/g, '\n')
    .trimEnd()
    .split(/\n\s*\n/);
  // A message with a single paragraph has no trailers.
  const lines = last.length > 1 ? (last.at(-1) ?? '').split('\n') : [];
  const runId = onlyValue(lines, RUN);
  const tree = onlyValue(lines, TREE);
  return runId === null || tree === null || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(tree)
    ? null
    : { runId, tree, base: onlyValue(lines, BASE) };
}

/** Whether the commit was made to be merged into this branch, as far as it says. */
export function isMadeFor({ base }: CommitOrigin, branch: string): boolean {
  return base === null || base === plainLine(branch, 300);
}

const RUN = 'Patchsmith-Run';
const TREE = 'Patchsmith-Tree';
const BASE = 'Patchsmith-Base';

function onlyValue(lines: readonly string[], name: string): string | null {
  const values = lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  const [only, ...more] = values;
  return only === undefined || only === '' || more.length > 0 ? null : only;
}
