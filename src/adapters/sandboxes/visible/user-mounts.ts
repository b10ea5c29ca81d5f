/** Folders and files that the operator makes visible to commands: `--mount PATH[:rw]`. */

import { join, normalize, relative } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import { withoutTail } from '../../../domain/text/shorten.ts';
import { entriesOf, readText, realPathOf, statOf } from '../host-files.ts';
import { type Boundaries, CREDENTIAL_FILES, holdsCredentials } from './toolchain-policy.ts';

/** One path of `--mount`. */
export interface UserMount {
  readonly source: string;
  readonly at: string;
  readonly writable: boolean;
}

/** The forbidden paths, and where the machine searches for programs. */
export interface MountRules extends Boundaries {
  /** The folders of PATH. */
  readonly programs: readonly string[];
}

/** `asked` are absolute paths with an optional `:rw`. `problem` is a sentence that names the mount and what to do. */
export function userMounts(
  asked: readonly string[],
  rules: MountRules,
): { status: 'ok'; mounts: UserMount[] } | { status: 'refused'; problem: string } {
  const mounts: UserMount[] = [];
  for (const text of asked) {
    const writable = text.endsWith(':rw');
    const at = withoutSlash(normalize(writable ? text.slice(0, -':rw'.length) : text));
    const source = realPathOf(at);
    const problem =
      source === null
        ? 'it does not exist or cannot be opened'
        : (refusalOf(at, writable, rules) ?? refusalOf(source, writable, rules) ?? kindRefusal(source));
    if (problem !== null || source === null)
      return { status: 'refused', problem: `--mount ${text}: ${problem}.` };
    mounts.push({ source, at, writable });
  }
  // Parents first, so that a later mount does not cover an earlier one.
  mounts.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const clash = clashAmong(mounts);
  return clash === null ? { status: 'ok', mounts } : { status: 'refused', problem: clash };
}

/** Sockets, devices, keys and settings of the machine. */
const NEVER = ['/boot', '/dev', '/etc', '/proc', '/run', '/sys'];
/** Too much as a whole; folders below them may be mounted. */
const NOT_AS_A_WHOLE = ['/', '/home', '/root', '/tmp', '/usr', '/var', '/var/lib', '/var/tmp'];
/** Programs of the machine, which run outside too. */
const SYSTEM_PROGRAMS = ['/bin', '/lib', '/lib32', '/lib64', '/libx32', '/sbin', '/usr'];

function refusalOf(path: string, writable: boolean, rules: MountRules): string | null {
  const { homes, roots, offLimits, programs } = rules;
  const isHome = homes.some((home) => isWithin(home, path)) || /^\/home\/[^/]+$/.test(path);
  if (isHome || NOT_AS_A_WHOLE.includes(path)) {
    return 'that is too broad: name the folder below it that commands need';
  }
  const closed = NEVER.find((place) => isWithin(path, place));
  if (closed !== undefined) return `the contents of ${closed} stay out of the sandbox`;
  if (roots.some((root) => isWithin(path, root))) return 'it is in the work tree, which commands see anyway';
  if (roots.some((root) => isWithin(root, path))) return 'the work tree is inside it';
  if (path.split('/').includes('.git')) return 'a .git folder stays out of the sandbox';
  if (offLimits.some((place) => isWithin(place, path) || isWithin(path, place))) {
    return 'the run directory and the repository stay out of the sandbox';
  }
  if (holdsCredentials(path, homes)) return 'it holds credentials';
  if (!writable) return null;
  if (
    SYSTEM_PROGRAMS.some((place) => isWithin(path, place)) ||
    programs.some((place) => isWithin(place, path) || isWithin(path, place))
  ) {
    return 'programs in it also run outside the sandbox, so it cannot be writable; name another folder';
  }
  const secret = CREDENTIAL_FILES.find((name) => statOf(`${path}/${name}`) !== null);
  return secret === undefined ? null : `it contains ${secret}, which can only be hidden in a read-only mount`;
}

/** Why `path` may not be shown read-only, as the rest of a sentence; null if it may. */
export function whyNotShown(path: string, rules: MountRules): string | null {
  return refusalOf(path, false, rules);
}

function kindRefusal(source: string): string | null {
  const stats = statOf(source);
  if (!stats?.isDirectory()) return stats?.isFile() ? null : 'it is neither a folder nor a plain file';
  const own = (entriesOf(source) ?? []).filter((entry) => entry.isSocket() || entry.isFIFO());
  const door = [...own.map(({ name }) => join(source, name)), ...boundSockets()].find((path) =>
    isWithin(path, source),
  );
  return door === undefined
    ? null
    : `it contains ${relative(source, door)}, a socket or named pipe that leads to a process outside of the sandbox; name a folder or file that does not contain it`;
}

/** The sockets with a path that the kernel lists: those of this network namespace that were bound by an absolute path. */
function boundSockets(): string[] {
  const bound = (readText('/proc/net/unix') ?? '').matchAll(/^(?:\S+ +){7}(\/.*)$/gm);
  return [...bound].flatMap(([, path = '']) => {
    const real = realPathOf(path);
    return real !== null && statOf(real)?.isSocket() ? [real] : [];
  });
}

function clashAmong(mounts: readonly UserMount[]): string | null {
  for (const [index, { at, writable }] of mounts.entries()) {
    const inner = mounts.slice(index + 1).find((other) => isWithin(other.at, at));
    if (inner?.at === at) return `--mount ${at}: is given twice.`;
    // A command could put a link where the next command's mount goes.
    if (inner && writable) return `--mount ${inner.at}: is in ${at}, which commands can write to.`;
  }
  return null;
}

/** A path as it is compared. */
export function withoutSlash(path: string): string {
  return path.length > 1 ? withoutTail(path, '/') : path;
}
