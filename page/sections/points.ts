/** Everything to check before accepting the patch: secrets, flags, denied actions and warnings. */

import type { RunResult } from '../../src/domain/run/result.ts';
import { type Child, h, section } from '../dom.ts';
import type { Run } from '../run.ts';

/** Number of entries of a list that are shown before the rest is collapsed. */
const MOST = 30;

/** The section. Says so if there is nothing. */
export function pointsSection({ data: { result, flagMeanings }, calls }: Run): HTMLElement {
  const byId = new Map([...calls.values()].map((call) => [call.id, call]));
  const linked = (ids: readonly string[]): Child[] =>
    ids.slice(0, 5).flatMap((id): Child[] => {
      const call = byId.get(id);
      const text = `iteration ${call?.iteration} · ${call?.tool}`;
      return call === undefined ? [] : [' ', h('a.origin', { href: `#${call.anchor}` }, text)];
    });
  const madeBy = (changes: readonly { readonly path: string; readonly by: string }[]) =>
    changes.map(({ path, by }) => [h('code', path), ` by ${by}`]);
  const refused = (result.network?.hosts ?? []).filter(({ outcome }) => outcome === 'refused');
  const lists: [string, Child[][]][] = [
    [reviewTitle(result), reviewEntries(result)],
    [
      'Possible secrets',
      result.secrets.map(({ path, line, what }) => [
        h('code', line > 0 ? `${path}:${line}` : path),
        ` ${what}`,
      ]),
    ],
    [
      deniedTitle(result),
      result.denied.map(({ kind, what, why, calls: ids, commands = [] }) => [
        ...marked(kind, what, why),
        ...linked(ids),
        ...commands.flatMap((command, at) => [at === 0 ? ', by ' : ' or ', h('code', command)]),
      ]),
    ],
    [
      'Flags: worth a second look',
      result.flags.map(({ path, flag, detail }) =>
        marked(flag, path, `${flagMeanings[flag] ?? ''}${detail === '' ? '' : ` (${detail})`}`),
      ),
    ],
    ['Warnings', result.warnings.map(warningEntry)],
    ['Verified with different contents than the patch has', named(result.unverified)],
    ['Changed by no tool call, and not in the patch', madeBy(result.unexplained)],
    ['Changed by commands, and put back', madeBy(result.putBack)],
    ['Hidden by an ignore rule that came later', named(result.hiddenFiles)],
    ['Not ignored any more', named(result.exposedFiles)],
    ['Git dirs that commands made, and that were removed', named(result.removedGitDirs)],
    [
      'Changed in other repositories of the work tree',
      result.nestedChanges.map(({ path, files }) => [h('code', path), ` ${files.slice(0, 10).join(', ')}`]),
    ],
    [`Ignored files that changed: ${result.ignoredFileCount}`, named(result.ignoredFiles)],
    [
      'Hosts that were refused',
      refused.map(({ host, times, why }) => [h('code', host), ` ${times} times: ${why}`]),
    ],
  ];
  const found = lists.filter(([, entries]) => entries.length > 0);
  return section(
    'points',
    'Review, denied, flags and warnings',
    found.length === 0 && h('p', 'None.'),
    ...found.map(([title, entries]) => [h('h3', title), list(entries)]),
  );
}

/** A name after a badge with what it is, and a text about it. */
function marked(badge: string, name: string, said: string): Child[] {
  return [h('span.badge', badge.replaceAll('_', ' ')), ' ', h('code', name), ` ${said}`];
}

/** With its code as a badge. */
function warningEntry(text: string): Child[] {
  const [, code, said = ''] = /^\[(WARN_[A-Z_]+)\] (.*)$/s.exec(text) ?? [];
  return code === undefined ? [text] : [h('span.badge', code), ` ${said}`];
}

function reviewTitle({ review }: RunResult): string {
  if (review?.status === 'failed') return `Not reviewed by ${review.model}`;
  return `Found by the review of ${review?.model ?? 'no model'}${review?.sentBack ? ', and sent back once' : ''}`;
}

function reviewEntries({ review }: RunResult): Child[][] {
  if (review?.status === 'failed') return [[review.reason]];
  return (review?.findings ?? []).map(({ severity, path, line, problem }) =>
    marked(severity, line === null ? path : `${path}:${line}`, problem),
  );
}

function deniedTitle({ denied, deniedCount }: RunResult): string {
  return deniedCount > denied.length ? `Denied: ${denied.length} of ${deniedCount}` : 'Denied';
}

function named(paths: readonly string[]): Child[][] {
  return paths.map((path) => [h('code', path)]);
}

function list(entries: readonly Child[][]): HTMLElement {
  const items = entries.map((entry) => h('li', entry));
  const first = h('ul.entries', items.slice(0, MOST));
  if (items.length <= MOST) return first;
  const rest = h('ul.entries', items.slice(MOST));
  return h('div', first, h('details.part', h('summary', `${items.length - MOST} more`), rest));
}
