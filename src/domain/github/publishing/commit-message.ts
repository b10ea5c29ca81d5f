/** The message of a commit that publishes a run, and what it says about the commit's origin. */

import { plainLine } from './plain-text.ts';

/** The origin of a patchsmith commit, according to its trailers. */
export interface CommitOrigin {
  readonly runId: string;
  /** Id of the commit's own tree: amending the commit changes the tree but not this trailer. */
  readonly tree: string;
  /** Branch that the work is to be merged into; null if the commit does not state it. */
  readonly base: string | null;
  /** What asked for the work, as `requestOf` names it; null if the commit does not state it. */
  readonly request: string | null;
}

/** Maximum characters of the first line. GitHub folds longer ones. */
const MAX_SUBJECT = 72;

/** What the operator wants in a commit message. */
export interface MessageWishes {
  /** In place of the subject, for which `{title}` stands; null for none. May have several paragraphs. */
  readonly message: string | null;
  /** Lines such as `Signed-off-by: …`. */
  readonly trailers: readonly string[];
}

/**
 * `words` are text from outside; in the message they cannot close an issue, skip checks or imitate a trailer. What the operator
 * wants is taken as it is, before the last paragraph, which is ours.
 */
export function commitMessage(
  words: string,
  { runId, tree, base, request }: CommitOrigin,
  { message, trailers: more }: MessageWishes = { message: null, trailers: [] },
): string {
  const subject = plainLine(words, MAX_SUBJECT) || 'Changes of a run';
  const text = message === null ? subject : message.replaceAll('{title}', () => subject);
  const trailers = [
    [RUN, plainLine(runId, 200)],
    [TREE, tree],
    [BASE, base === null ? null : plainLine(base, 300)],
    [REQUEST, request],
  ] as const;
  const lines = trailers.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}\n`]));
  return `${text.replace(/\r\n?/g, '\n').trim()}\n\n${lines.join('')}${more.map((line) => `${line}\n`).join('')}`;
}

/** The line that names the plan; none without a title. */
export function planTrailer(title: string | undefined): string[] {
  const line = plainLine(title ?? '', 200);
  return line === '' ? [] : [`Patchsmith-Plan: ${line}`];
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
    : { runId, tree, base: onlyValue(lines, BASE), request: onlyValue(lines, REQUEST) };
}

/**
 * Whether the work of a commit was asked for by something else than `request`, so that to put other work in its place would
 * lose it. A comment asks once; everything else asks for the same work each time, as far as an older commit says.
 */
export function isOfAnotherRequest({ request: own }: CommitOrigin, request: string | null): boolean {
  if (own !== null) return own !== request;
  return request?.startsWith('comment ') === true;
}

/** Whether the commit was made to be merged into this branch, as far as it says. */
export function isMadeFor({ base }: CommitOrigin, branch: string): boolean {
  return base === null || base === plainLine(branch, 300);
}

const RUN = 'Patchsmith-Run';
const TREE = 'Patchsmith-Tree';
const BASE = 'Patchsmith-Base';
const REQUEST = 'Patchsmith-Request';

function onlyValue(lines: readonly string[], name: string): string | null {
  const values = lines.flatMap((line) => (line.startsWith(`${name}: `) ? [line.slice(name.length + 2)] : []));
  const [only, ...more] = values;
  return only === undefined || only === '' || more.length > 0 ? null : only;
}
