/** Looks at paths of the work tree, reads what may be other than it was last seen, and says what has changed. */

import { type PathChange, sameOnDisk } from '../../../domain/changes/change.ts';
import { foldersOf, isRefusedForLinks, isRefusedName, quotedName } from '../../../domain/changes/path.ts';
import { type Warning, warning } from '../../../domain/warnings/warning.ts';
import { type FileStat, sameStat } from '../../../files/stat.ts';
import { viewing } from '../../../files/tree-view.ts';
import { keepCommitted, keepUnchanged } from './committed-forms.ts';
import { takeContents } from './contents.ts';
import type { LastSeen, States } from './last-seen.ts';
import type { Taken, Wanted, WorkTreeParts } from './parts.ts';

/** What a comparison is about. */
export interface Comparing {
  /** The file system's time before the look, in ns. */
  readonly clock: bigint;
  /** Untracked paths that git sees; null for a look at some paths only, and for the first one. */
  readonly visible: ReadonlySet<string> | null;
  /** In the first look, files that git has as they are, in other bytes; null afterwards. */
  readonly hiding: ReadonlySet<string> | null;
  /** Folders and files that could not be read. */
  readonly closed: Set<string>;
}

/** Where a look found files or links, and where it found neither. */
interface Places {
  readonly stats: Map<string, FileStat>;
  readonly gone: string[];
}

/** Compares the work tree with what was seen last, and brings that up to date. */
export class Comparison {
  readonly #parts: WorkTreeParts;
  readonly #seen: LastSeen;
  /** Files that existed when last seen and that the last full look could not examine, sorted. */
  hidden: readonly string[] = [];

  constructor(parts: WorkTreeParts, seen: LastSeen) {
    this.#parts = parts;
    this.#seen = seen;
  }

  /** The changes of these paths, and in a full look of all that are known, sorted by path. */
  async of(candidates: readonly string[], comparing: Comparing): Promise<PathChange[]> {
    const { visible, hiding, closed } = comparing;
    const isFull = visible !== null || hiding !== null;
    const more = isFull ? [...this.#seen.paths, ...this.#seen.submodules] : [];
    const paths = new Set([...candidates, ...more]);
    const { stats, gone } = this.#placesOf(paths, closed);
    const befores = await this.#seen.statesOf(paths);
    const hidden = visible === null ? [] : this.#takeHidden(stats, befores, visible);
    const wanted = this.#wantedOf(stats, befores);
    const taken = await takeContents(wanted, this.#parts);
    if (hiding !== null) keepCommitted(this.#parts, hiding, taken);
    else await keepUnchanged(this.#parts, this.#seen, taken);
    const read = this.#takeOver(wanted, taken, comparing);
    for (const [path, { status }] of taken) {
      if (status === 'absent') gone.push(path);
      if (status === 'unreadable') closed.add(path);
    }
    const changes = [
      ...hidden,
      ...read,
      ...this.#takeGone(gone, befores, closed),
      ...this.#seen.settleSparse(),
    ];
    this.#warn(unreadableWarnings(closed));
    if (isFull) this.#noteUnreadable(closed);
    const made = changes.filter(isChange);
    if (hiding === null) this.#warn(filterWarnings(made, taken));
    return made.sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Looks at each of the paths, also in folders that can be read and not entered. Those that cannot be looked at are added to `closed`. */
  #placesOf(paths: Iterable<string>, closed: Set<string>): Places {
    const { git, warn } = this.#parts;
    const places: Places = { stats: new Map(), gone: [] };
    viewing(git.root, (view) => {
      for (const path of paths) {
        const submodule = this.#seen.submoduleOf(path);
        if (path.endsWith('/') || (submodule !== null && submodule !== path)) continue;
        const look = this.#parts.closed.insist(path, () => view.lookAt(path));
        if (look.status === 'unreadable') closed.add(path);
        const stat = look.status === 'seen' ? look.stat : null;
        const refused = nameWarning(path, stat?.kind ?? null);
        if (refused !== null) warn(refused);
        else if (stat === null) {
          if (look.status === 'absent') places.gone.push(path);
        } else if (stat.kind === 'file' || stat.kind === 'link') places.stats.set(path, stat);
        else places.gone.push(path);
      }
    });
    return places;
  }

  /** Takes away what git does not see. A new rule hides what the run has made: it stays where it is. */
  #takeHidden(stats: Map<string, FileStat>, befores: States, visible: ReadonlySet<string>): PathChange[] {
    const { hidden } = this.#parts;
    const changes: PathChange[] = [];
    for (const path of stats.keys()) {
      if (visible.has(path) || this.#seen.isKept(path)) continue;
      const before = befores.get(path) ?? null;
      // A git dir that appeared beside a file does not hide it.
      if (before !== null && !hidden.mayDiffer) continue;
      stats.delete(path);
      if (before === null) continue;
      this.#seen.set(path, null);
      hidden.hide(path);
      changes.push({ path, before, after: before, ignored: 'from_now' });
    }
    return changes;
  }

  /** Files whose content may have changed. Those that existed before come first, so that many new ones cannot hide what happened to them. */
  #wantedOf(stats: ReadonlyMap<string, FileStat>, befores: States): Wanted[] {
    const { index, hidden, fileMode } = this.#parts;
    const wanted: Wanted[] = [];
    for (const [path, stat] of stats) {
      const known = this.#seen.statOf(path);
      const before = befores.get(path) ?? null;
      if (known !== null && sameStat(known, stat)) continue;
      if (before === null && !this.#seen.isKept(path) && hidden.isExposed(path, stat)) continue;
      const entry = index.get(path);
      const isExecutable = fileMode ? null : entry?.mode === '100755';
      wanted.push({ path, stat, before, inIndex: entry?.blob ?? null, isExecutable });
    }
    return wanted.sort((a, b) => Number(a.before === null) - Number(b.before === null));
  }

  #takeOver(
    wanted: readonly Wanted[],
    taken: ReadonlyMap<string, Taken>,
    { clock, hiding }: Comparing,
  ): PathChange[] {
    const { hidden } = this.#parts;
    return wanted.flatMap(({ path, before }) => {
      const one = taken.get(path);
      if (one?.status !== 'ok') return [];
      const stat = one.stat && one.stat.ctimeNs < clock ? one.stat : null;
      this.#seen.set(path, one.state, stat);
      const wasHidden = hiding === null && before === null && hidden.wasHidden(path);
      return [{ path, before, after: one.state, ...(wasHidden ? { ignored: 'until_now' as const } : {}) }];
    });
  }

  #takeGone(gone: readonly string[], befores: States, closed: ReadonlySet<string>): PathChange[] {
    return gone.flatMap((path) => {
      const before = befores.get(path) ?? null;
      if (before === null || this.#seen.isSparse(path) || isWithinAny(closed, path)) return [];
      this.#seen.set(path, null);
      return [{ path, before, after: null }];
    });
  }

  #noteUnreadable(closed: ReadonlySet<string>): void {
    const since = new Set([...closed].filter((path) => !this.#parts.closed.isAsFound(path)));
    const isHidden = (path: string) => isWithinAny(since, path);
    this.hidden = since.size === 0 ? [] : this.#seen.present().filter(isHidden).sort();
  }

  #warn(warnings: readonly Warning[]): void {
    for (const one of warnings) this.#parts.warn(one);
  }
}

function isChange({ before, after, ignored }: PathChange): boolean {
  return ignored === 'from_now' || !sameOnDisk(before, after);
}

/** Whether the path or a folder that contains it is one of these. */
function isWithinAny(places: ReadonlySet<string>, path: string): boolean {
  return places.size > 0 && [path, ...foldersOf(path), ''].some((place) => places.has(place));
}

/** Folders or files that were looked at in vain. */
function unreadableWarnings(paths: Iterable<string>): Warning[] {
  return [...paths].map((path) =>
    warning('WARN_UNREADABLE', `${quotedName(path)} cannot be read and counts as unchanged.`),
  );
}

/** About a name that no patch can hold, or null. `kind` is what is there, if anything is. */
function nameWarning(path: string, kind: FileStat['kind'] | null): Warning | null {
  const names = path.split('/');
  const at = names.findIndex((name) => isRefusedName(name) || (kind === 'link' && isRefusedForLinks(name)));
  if (at < 0) return null;
  const refused = quotedName(names.slice(0, at + 1).join('/'));
  return warning('WARN_NAME_NOT_ACCEPTED', `${refused} has a name that git does not accept and is left out.`);
}

/** Which changed files are in the patch otherwise than their filter would have them. */
function filterWarnings(changes: readonly PathChange[], taken: ReadonlyMap<string, Taken>): Warning[] {
  return changes.flatMap(({ path, ignored }) => {
    const one = taken.get(path);
    if (one?.status !== 'ok' || one.filter === null || ignored === 'from_now') return [];
    const name = quotedName(path);
    return one.filter === 'lfs'
      ? warning(
          'WARN_LFS_POINTER',
          `${name} is in the patch as a Git LFS pointer; push its content with git lfs.`,
        )
      : warning(
          'WARN_FILTER_NOT_RUN',
          `${name} is in the patch as it is on disk; its filter ${quotedName(one.filter)} was not run.`,
        );
  });
}
