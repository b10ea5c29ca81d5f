/**
 * What the run changed of files that git ignores. They are many and nobody keeps their states, so the kernel's word has to
 * do: what has been written, renamed, linked or made runnable since the work began has a ctime of then, and nobody can set
 * that back. Costs a stat for each ignored file, once a run.
 */

import { existsSync, lstatSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { IgnoredFileList } from '../../domain/ignored-files.ts';
import { isGitDirName } from '../../domain/path.ts';
import { Breath } from './time-limit.ts';
import { TreeView } from './tree-view.ts';
import type { WalkedTree } from './walked-tree.ts';

/** The moment at which the work began, kept as the time of a file in the shadow repository. */
const BEGINNING = 'work-began.json';

/** Keeps the moment, unless an earlier act of the run, or an earlier process of it, has. */
export function keepBeginning(shadowDir: string): void {
  const file = join(shadowDir, BEGINNING);
  if (!existsSync(file)) writeFileSync(file, '{}\n');
}

/** The moment as a ctime, in ns; null where nothing has begun. */
export function beginningOf(shadowDir: string): bigint | null {
  return lstatSync(join(shadowDir, BEGINNING), { bigint: true, throwIfNoEntry: false })?.ctimeNs ?? null;
}

/** Adds files that git ignores and that have changed since. Does nothing where nothing has begun. */
export async function findIgnoredChanges(
  tree: WalkedTree,
  shadowDir: string,
  found: IgnoredFileList,
): Promise<void> {
  const began = beginningOf(shadowDir);
  if (began === null) return;
  const view = new TreeView(tree.root);
  try {
    await search({ tree, view, began, found });
  } finally {
    view.close();
  }
}

interface Search {
  readonly tree: WalkedTree;
  readonly view: TreeView;
  /** ctime, in ns. */
  readonly began: bigint;
  readonly found: IgnoredFileList;
}

async function search({ tree, view, began, found }: Search): Promise<void> {
  const breath = new Breath();
  const isSince = (path: string) => {
    const look = tree.closed.insist(path, () => view.lookAt(path));
    if (look.status !== 'seen') return look.status === 'unreadable';
    // As old as the moment counts: the first act of the run may follow it within the same tick of the clock.
    return look.stat.kind !== 'folder' && look.stat.ctimeNs >= began;
  };
  const waiting = [{ folder: '', isIgnored: false }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const { folder, isIgnored } = at;
    const listing = tree.closed.insist(folder, () => view.listFolder(folder));
    // What cannot be examined may have been changed.
    if (listing.status === 'unreadable' && isIgnored) found.add(`${folder}/`);
    const entries = listing.status === 'seen' ? listing.entries : [];
    const paths = entries.flatMap(({ name, folder: isFolder }) =>
      isGitDirName(name) ? [] : [`${folder === '' ? name : `${folder}/${name}`}${isFolder ? '/' : ''}`],
    );
    const ignored = isIgnored ? null : await ignoredAmong(paths, tree);
    for (const path of paths) {
      const isOut = ignored === null || ignored.has(path);
      if (path.endsWith('/')) waiting.push({ folder: path.slice(0, -1), isIgnored: isOut });
      else if (isOut && isSince(path)) found.add(path);
    }
    await breath.after(1 + paths.length);
  }
}

function ignoredAmong(
  paths: readonly string[],
  { tracked, rules }: WalkedTree,
): Promise<ReadonlySet<string>> {
  const isKnown = (path: string) =>
    path.endsWith('/') ? tracked.isFolder(path.slice(0, -1)) : tracked.isFile(path);
  return rules.ignored(paths.filter((path) => !isKnown(path)));
}
