/** Writes new files only, never over existing ones. */

import { closeSync, writeFileSync } from 'node:fs';
import type { RepoPath } from '../domain/changes/path.ts';
import { ioFailure } from './failures.ts';
import { below, enterParent } from './nofollow-path.ts';
import { lookAt } from './tree-view.ts';

/** A file to be written if it does not exist yet. */
export interface FileToWrite {
  /** Relative to the root. */
  readonly path: string;
  readonly text: string;
  /** Files that make it unnecessary: if one of them exists, it is not written. */
  readonly unless: readonly string[];
}

/** `there` names the existing file because of which nothing was written; `why` follows the name of the file. */
export type NewFileEnd =
  | { status: 'written' }
  | { status: 'there'; path: string }
  | { status: 'failed'; why: string };

/** Creates missing folders. Follows no link. */
export function writeNewFile(root: string, { path, text, unless }: FileToWrite): NewFileEnd {
  const there = [path, ...unless].find((name) => lookAt(root, name).status === 'seen');
  if (there !== undefined) return { status: 'there', path: there };
  const place = enterParent(root, path as RepoPath, 'make');
  if (place.status === 'failed') return { status: 'failed', why: place.message };
  try {
    writeFileSync(below(place.folder, place.name), text, { flag: 'wx' });
    return { status: 'written' };
  } catch (error) {
    return { status: 'failed', why: ioFailure(error, path, 'written').message };
  } finally {
    closeSync(place.folder);
  }
}
