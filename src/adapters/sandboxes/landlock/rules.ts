/** The places of the machine that commands may use under Landlock. A rule takes nothing back: what is closed must not be granted. */

import { join } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import { type MachineView, objectStores } from '../bubblewrap/mounts.ts';
import { pinMounts } from '../bubblewrap/pinned-mounts.ts';

import { entriesOf, statOf } from '../host-files.ts';
import type { SandboxOptions } from '../options.ts';
import { credentialFilesIn } from '../visible/credential-files.ts';
import { ETC_FILES } from '../visible/etc-folder.ts';
import type { LandlockRule } from './start.ts';

/** The places that commands may use, each examined once and known by its inode from then on. */
export async function rulesFor(
  { root, sandboxGitDir }: SandboxOptions,
  { toolchains, added }: Pick<MachineView, 'toolchains' | 'added'>,
): Promise<
  { status: 'ok'; rules: LandlockRule[]; close: () => void } | { status: 'refused'; reason: string }
> {
  const readable = [...ETC_FILES, ...ETC_MORE, ...javaSettings()].map((name) => join('/etc', name));
  const programs = [...SYSTEM, ...toolchains.mounts.map(({ at }) => at)];
  const secrets = credentialFilesIn(['/usr/local', ...programs, ...added.map(({ at }) => at)]);
  const places: WantedPlace[] = [
    ...programs.flatMap((path) => around(path, secrets)),
    ...readable.map((path) => ['r', path, true] as const),
    ...added.flatMap(({ at, writable }): WantedPlace[] =>
      writable ? [['w', at, false]] : around(at, secrets),
    ),
    ...(await objectStores(sandboxGitDir.objects)).map((path) => ['r', path, true] as const),
    ['w', sandboxGitDir.gitDir, false],
    ['w', root, false],
  ];
  const kinds: ReadonlyMap<string, LandlockRule['kind']> = new Map(
    places.map(([kind, path]) => [path, kind]),
  );
  const pinned = pinMounts(
    places.map(([kind, path, optional]) => ({
      kind: kind === 'w' ? 'read-write' : 'read-only',
      source: path,
      at: path,
      optional,
    })),
    [],
  );
  if (pinned.status === 'refused') return pinned;
  const { mounts, close } = pinned.pins;
  const rules = mounts.flatMap((mount): LandlockRule[] => {
    const kind = 'source' in mount ? kinds.get(mount.at) : undefined;
    return kind === undefined || !('dev' in mount)
      ? []
      : [{ kind, path: mount.source, dev: mount.dev, ino: mount.ino }];
  });
  const devices = DEVICES.filter((path) => statOf(path)?.isCharacterDevice());
  return {
    status: 'ok',
    rules: [
      { kind: 'r', path: '/proc' },
      ...rules,
      ...devices.map((path): LandlockRule => ({ kind: 'd', path })),
    ],
    close,
  };
}

type WantedPlace = readonly [kind: LandlockRule['kind'], path: string, isOptional: boolean];

/** A place without the files of tokens in it: only what is beside them may be read, since no rule takes something back. */
function around(place: string, secrets: readonly string[]): WantedPlace[] {
  if (secrets.includes(place)) return [];
  if (!secrets.some((path) => isWithin(path, place))) return [['x', place, true]];
  const entries = (entriesOf(place) ?? []).filter((entry) => entry.isDirectory() || entry.isFile());
  return [['l', place, true], ...entries.flatMap(({ name }) => around(join(place, name), secrets))];
}

const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];
/** Those for which the other sandboxes make files of their own. None holds a secret. */
const ETC_MORE = ['hosts', 'nsswitch.conf', 'passwd'];
const DEVICES = ['/dev/full', '/dev/null', '/dev/random', '/dev/urandom', '/dev/zero'];

function javaSettings(): string[] {
  return (entriesOf('/etc') ?? []).flatMap(({ name }) => (name.startsWith('java-') ? [name] : []));
}
