/** The lexical path rules of the workspace. The workspace adapter deals with links. */

import { shortened, withoutTail } from '../text/shorten.ts';

/**
 * A path that has passed the rules: relative to the root, `/`-separated, no empty, `.` or `..` component. `''` is the root. Inside
 * a file tool it is relative to the working directory, and may begin with `..`.
 */
export type RepoPath = string & { readonly __repoPath: unique symbol };

/** A path that may be used, or the message for the model. */
export type PathVerdict = { ok: true; path: RepoPath } | { ok: false; message: string };

const MAX_PATH_BYTES = 4_000;
const MAX_COMPONENT_BYTES = 255;

/**
 * Parses a path as the model wrote it, relative to `folder`. Nothing is decoded: `%2e`, `~`, `$HOME` and a backslash are plain
 * characters. `./a/` and `a//b` are tidied; `../` leads from `folder` as far up as the root. Absolute paths, any other `..`, NUL,
 * `.git` in any spelling and over-long names are refused.
 */
export function parseRepoPath(written: string, folder = ''): PathVerdict {
  const refuse = (why: string): PathVerdict => ({ ok: false, message: `${JSON.stringify(written)} ${why}` });
  if (written.includes('\0')) return refuse('contains a NUL character.');
  if (written.startsWith('/'))
    return refuse(`is absolute. Paths are relative to ${folder || 'the repository root'}.`);
  if (new TextEncoder().encode(written).length > MAX_PATH_BYTES) {
    return refuse(`is longer than ${MAX_PATH_BYTES} bytes.`);
  }
  const parts = written.split('/').filter((part) => part !== '' && part !== '.');
  const above = folder === '' ? [] : folder.split('/');
  while (parts[0] === '..' && above.length > 0) {
    parts.shift();
    above.pop();
  }
  for (const part of parts) {
    if (part === '..') return refuse('contains "..". Paths may not leave the repository.');
    if (isRefusedName(part))
      return refuse("names git's own folder, which is off limits. Use run_command with git.");
    if (new TextEncoder().encode(part).length > MAX_COMPONENT_BYTES) {
      return refuse(`has a component longer than ${MAX_COMPONENT_BYTES} bytes.`);
    }
  }
  return { ok: true, path: [...above, ...parts].join('/') as RepoPath };
}

/** The path as seen from `folder`, both relative to the root; `''` is `folder` itself. */
export function pathFrom(folder: string, path: string): string {
  const above = folder === '' ? [] : folder.split('/');
  const parts = path === '' ? [] : path.split('/');
  while (above.length > 0 && above[0] === parts[0]) {
    above.shift();
    parts.shift();
  }
  return [...above.map(() => '..'), ...parts].join('/');
}

/** Whether a recorded path is below the root; records are untrusted. */
export function staysBelowRoot(path: string): boolean {
  return (
    !path.includes('\0') && path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

/** `path` is `folder` or is below it; both are absolute or both relative to the root, which is `''`. Nothing is resolved. */
export function isWithin(path: string, folder: string): boolean {
  if (path === folder || folder === '') return true;
  return path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

/** The folder that contains a path; `''` is the root. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** `''`, `a` and `a/b` for `a/b/c`. */
export function foldersAround(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return ['', ...parts.map((_, at) => parts.slice(0, at + 1).join('/'))];
}

/**
 * Finds what holds for the folder of a path. `of` is asked about each folder once, with what holds for the folder around it, or
 * null for the root: thousands of paths may share thousands of folders.
 */
export function byFolder<T>(of: (folder: string, around: T | null) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    const unknown: string[] = [];
    let folder = folderOf(path);
    while (!known.has(folder)) {
      unknown.push(folder);
      if (folder === '') break;
      folder = folderOf(folder);
    }
    let found: T | null = known.get(folder) ?? null;
    for (const one of unknown.reverse()) {
      found = of(one, found);
      known.set(one, found);
    }
    return found as T;
  };
}

/** The folders that contain a path, nearest first, without the root. */
export function* foldersOf(path: string): Generator<string> {
  for (let cut = path.lastIndexOf('/'); cut > 0; cut = path.lastIndexOf('/', cut - 1))
    yield path.slice(0, cut);
}

/** `path` resolved against `cwd`. Nothing is tidied. */
export function absolutePath(cwd: string, path: string): string {
  return path.startsWith('/') ? path : `${cwd}/${path}`;
}

/** Resolves `path` in `folder` to an absolute path by its names only: no link is followed. */
export function resolvedPath(folder: string, path: string): string {
  const names: string[] = [];
  for (const name of absolutePath(folder, path).split('/')) {
    if (name === '..') names.pop();
    else if (name !== '' && name !== '.') names.push(name);
  }
  return `/${names.join('/')}`;
}

/** A name for people: in quotes, and shortened if it is long. */
export function quotedName(name: string): string {
  return JSON.stringify(shortened(name, 200));
}

/**
 * True for `.git` in every spelling that some file system treats as the same (case, NTFS short name and streams, HFS+
 * ignorables).
 */
export function isGitDirName(component: string): boolean {
  const folded = foldedName(component);
  return folded === '.git' || folded === 'git~1';
}

/** Whether git accepts no path with this name: it reads a backslash as Windows does, on every system. */
export function isRefusedName(component: string): boolean {
  return component.split('\\').some(isGitDirName);
}

/** Whether git accepts no link whose path has this name: `.gitmodules`, also by its short names on Windows. */
export function isRefusedForLinks(component: string): boolean {
  return component.split('\\').some((name) => MODULES.test(foldedName(name)));
}

const MODULES = /^(?:\.gitmodules|gitmod~[1-4]|(?=.{8}$)(?:g(?:i(?:7(?:e(?:ba?)?)?)?)?)?~[1-9]\d*)$/;

/** A name as the least strict file systems compare it: without case, NTFS streams, trailing dots and HFS+ ignorables. */
export function foldedName(component: string): string {
  if (/^[a-z0-9_-]*$/.test(component)) return component;
  const plain = /^[ -~]*$/.test(component)
    ? component
    : component
        .normalize('NFKC')
        .replace(/[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufeff\u00ad]/g, '');
  return withoutTail(plain.toLowerCase().split(':', 1)[0] ?? '', '. ');
}

/** A path as the least strict file systems compare it. */
export function foldedPath(path: string): string {
  return path.split('/').map(foldedName).join('/');
}

/** Whether git reads ignore rules or attributes from the file at this path. */
export function isRuleFile(path: string): boolean {
  return /(?:^|\/)\.git(?:ignore|attributes)$/.test(path);
}
