/**
 * The `/etc` that commands see. Every mount costs a quarter of a millisecond of every command, so the machine's single files are
 * copied into one folder, once a run, and only its folders are mounted into that.
 */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Mount } from './bubblewrap-args.ts';
import { entriesOf, orMissing, targetOf } from './host-files.ts';

export const GIT_CONFIG_INSIDE = '/etc/gitconfig';

/** The lists of users, libraries, zones and certificates. `/etc` as a whole would show keys and password hashes. */
const ETC_FILES = [
  'alternatives',
  'ca-certificates.conf',
  'crypto-policies/back-ends',
  'crypto-policies/config',
  'dotnet',
  'fonts',
  'group',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  // Without settings.xml beside them, which names servers and passwords.
  'maven/logging',
  'maven/m2.conf',
  'mime.types',
  'nsswitch.conf',
  'os-release',
  'passwd',
  'perl',
  'pki/ca-trust/extracted',
  'pki/tls/cert.pem',
  'pki/tls/certs',
  'pki/tls/openssl.cnf',
  'protocols',
  'services',
  'ssl/cert.pem',
  'ssl/certs',
  'ssl/openssl.cnf',
  'timezone',
];

/** Larger files are mounted. */
const MAX_COPIED_BYTES = 4 * 1024 * 1024;

/** The machine's own hosts file names its neighbours; Java wants its host name to resolve. */
const HOSTS = '127.0.0.1 localhost sandbox\n::1 localhost sandbox\n';

export interface Etc {
  /** A folder of ours for the files that are mounted. */
  readonly files: string;
  /** Text of the git configuration. */
  readonly gitConfig: string;
  /** What is mounted later; below `/etc` it needs a place. */
  readonly later: readonly { readonly source: string; readonly at: string }[];
}

/** Makes the folder, and returns its mount and those into it. */
export function etcMounts({ files, gitConfig, later }: Etc): Mount[] {
  const folder = join(files, 'etc');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, 'hosts'), HOSTS);
  writeFileSync(join(folder, 'gitconfig'), gitConfig);
  const mounts: Mount[] = [{ kind: 'read-only', source: folder, at: '/etc' }];
  const java = (entriesOf('/etc') ?? []).map(({ name }) => name).filter((name) => name.startsWith('java-'));
  for (const name of [...ETC_FILES, ...java]) {
    const source = join('/etc', name);
    const stats = targetOf(source);
    if (stats === null) continue;
    makePlace(join(folder, name), stats.isDirectory());
    if (stats.isFile() && stats.size <= MAX_COPIED_BYTES) {
      orMissing(() => copyFileSync(source, join(folder, name)));
    } else {
      mounts.push({ kind: 'read-only', source, at: source, optional: true });
    }
  }
  for (const { source, at } of later) {
    const name = at.startsWith('/etc/') ? at.slice('/etc/'.length) : null;
    if (name !== null) makePlace(join(folder, name), targetOf(source)?.isDirectory() ?? true);
  }
  return mounts;
}

/** An empty folder or file, where there is nothing yet. */
function makePlace(path: string, isFolder: boolean): void {
  mkdirSync(isFolder ? path : dirname(path), { recursive: true, mode: 0o755 });
  if (!isFolder) writeFileSync(path, '', { flag: 'a' });
}
