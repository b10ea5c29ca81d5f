/** What people read of a step that was refused: in its log, and on the issue or pull request where they wait for it. */

import type { Issue } from '../github-server/state/world.ts';

/** What they look at. */
export interface Readable {
  /** Of the step, or of a command. */
  readonly stderr: string;
  /** The issue or pull request; none where the log is all. */
  readonly issue?: Issue | undefined;
}

/**
 * Log and comments as one text, without what differs from one test to the next: `DIR` is a folder, `ID` an id of git or of a
 * run, and `GITHUB` the server.
 */
export function asRead({ stderr, issue }: Readable): string {
  const log = stderr.split('\n').filter((line) => line !== '' && !/^::|^patchsmith: run /.test(line));
  const labels = issue?.labels.map(({ name }) => name).join(', ') ?? '';
  const comments = (issue?.comments ?? []).filter(({ author }) => author.type === 'Bot');
  const said = comments.map(
    ({ body }) =>
      `#${issue?.number}${labels === '' ? '' : ` [${labels}]`}\n${body.replace(/\s*<!--[\s\S]*$/, '')}`,
  );
  return [log.join('\n'), ...said].map(timeless).join('\n\n');
}

function timeless(text: string): string {
  return text
    .replaceAll(/http:(?:&#8203;)?\/\/127\.0\.0\.1:\d+/g, 'GITHUB')
    .replaceAll(/(?<![\w:/])\/(?:[\w.@-]+\/)*patchsmith-[\w-]+[^\s/:,;)"]*(?:\/[\w.-]+)*/g, folderless)
    .replaceAll(/\b\d{8}-\d{6}-[0-9a-f]{6}\b/g, 'ID')
    .replaceAll(/\b(?=[0-9a-f]*\d)[0-9a-f]{8}(?:[0-9a-f]{4}|[0-9a-f]{32}|[0-9a-f]{56})?\b/g, 'ID')
    .replaceAll(/request [0-9A-F:]+/g, 'request ID');
}

/** Temporary folders have names of their own. */
function folderless(path: string): string {
  const name = path.split('/').at(-1) ?? '';
  return name.startsWith('patchsmith-') ? 'DIR' : `DIR/${name}`;
}
