/** Everything to check before accepting the patch: secrets, flags, denied actions and warnings. */

import type { RunResult } from '../../src/domain/run/result.ts';
import { type Child, h, put } from '../dom.ts';
import type { Run } from '../run.ts';

/** Number of entries of a list that are shown before the rest is collapsed. */
const MOST = 30;

/** With its code as a badge. */
function warningEntry(text: string): Child[] {
  const [, code, said = ''] = /^\[(WARN_[A-Z_]+)\] (.*)$/s.exec(text) ?? [];
  return code === undefined ? [text] : [h('span', { class: 'badge' }, code), ` ${said}`];
}

/** The section. Says so if there is nothing. */
export function pointsSection({ data: { result, flagMeanings }, calls }: Run): HTMLElement {
  const section = h(
    'section',
    { id: 'points', 'aria-labelledby': 'points-title' },
    h('h2', { id: 'points-title' }, 'Review, denied, flags and warnings'),
  );
  const anchors = new Map([...calls.values()].map((call) => [call.id, call]));
  const linked = (ids: readonly string[]): Child[] =>
    ids.slice(0, 5).flatMap((id): Child[] => {
      const call = anchors.get(id);
      return call === undefined
        ? []
        : [
            ' ',
            h(
              'a',
              { class: 'origin', href: `#${call.anchor}` },
              `iteration ${call.iteration} · ${call.tool}`,
            ),
          ];
    });
  const lists: [string, Child[][]][] = [
    [reviewTitle(result), reviewEntries(result)],
    [
      'Possible secrets',
      result.secrets.map(({ path, line, what }) => [
        h('code', {}, line > 0 ? `${path}:${line}` : path),
        ` ${what}`,
      ]),
    ],
    [
      deniedTitle(result),
      result.denied.map(({ kind, what, why, calls: ids, commands = [] }) => [
        h('span', { class: 'badge' }, kind.replace('_', ' ')),
        ' ',
        h('code', {}, what),
        ` ${why}`,
        ...linked(ids),
        ...commands.flatMap((command, at) => [at === 0 ? ', by ' : ' or ', h('code', {}, command)]),
      ]),
    ],
    [
      'Flags: worth a second look',
      result.flags.map(({ path, flag, detail }) => [
        h('span', { class: 'badge' }, flag.replaceAll('_', ' ')),
        ' ',
        h('code', {}, path),
        ` ${flagMeanings[flag] ?? ''}${detail === '' ? '' : ` (${detail})`}`,
      ]),
    ],
    ['Warnings', result.warnings.map(warningEntry)],
    ['Verified with different contents than the patch has', named(result.unverified)],
    [
      'Changed by no tool call, and not in the patch',
      result.unexplained.map(({ path, by }) => [h('code', {}, path), ` by ${by}`]),
    ],
    [
      'Changed by commands, and put back',
      result.putBack.map(({ path, by }) => [h('code', {}, path), ` by ${by}`]),
    ],
    ['Hidden by an ignore rule that came later', named(result.hiddenFiles)],
    ['Not ignored any more', named(result.exposedFiles)],
    ['Git dirs that commands made, and that were removed', named(result.removedGitDirs)],
    [
      'Changed in other repositories of the work tree',
      result.nestedChanges.map(({ path, files }) => [
        h('code', {}, path),
        ` ${files.slice(0, 10).join(', ')}`,
      ]),
    ],
    [`Ignored files that changed: ${result.ignoredFileCount}`, named(result.ignoredFiles)],
    [
      'Hosts that were refused',
      (result.network?.hosts ?? [])
        .filter(({ outcome }) => outcome === 'refused')
        .map(({ host, times, why }) => [h('code', {}, host), ` ${times} times: ${why}`]),
    ],
  ];
  const found = lists.filter(([, entries]) => entries.length > 0);
  if (found.length === 0) put(section, h('p', {}, 'None.'));
  for (const [title, entries] of found) put(section, h('h3', {}, title), list(entries));
  return section;
}

function reviewTitle({ review }: RunResult): string {
  if (review?.status === 'failed') return `Not reviewed by ${review.model}`;
  return review?.sentBack
    ? `Found by the review of ${review.model}, and sent back once`
    : `Found by the review of ${review?.model ?? 'no model'}`;
}

function reviewEntries({ review }: RunResult): Child[][] {
  if (review?.status === 'failed') return [[review.reason]];
  return (review?.findings ?? []).map(({ severity, path, line, problem }) => [
    h('span', { class: 'badge' }, severity),
    ' ',
    h('code', {}, line === null ? path : `${path}:${line}`),
    ` ${problem}`,
  ]);
}

function deniedTitle({ denied, deniedCount }: RunResult): string {
  return deniedCount > denied.length ? `Denied: ${denied.length} of ${deniedCount}` : 'Denied';
}

function named(paths: readonly string[]): Child[][] {
  return paths.map((path) => [h('code', {}, path)]);
}

function list(entries: readonly Child[][]): HTMLElement {
  const items = (some: readonly Child[][]) =>
    h(
      'ul',
      { class: 'entries' },
      some.map((entry) => h('li', {}, entry)),
    );
  if (entries.length <= MOST) return items(entries);
  return h(
    'div',
    {},
    items(entries.slice(0, MOST)),
    h(
      'details',
      { class: 'part' },
      h('summary', {}, `${entries.length - MOST} more`),
      items(entries.slice(MOST)),
    ),
  );
}
