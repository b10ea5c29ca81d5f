/**
 * The `/etc` that commands see. Every mount adds a quarter of a millisecond to every command, so the machine's single files
 * are copied into one folder, once per run, and only folders are mounted into that.
 */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { entriesOf, orMissing, readText, statOfTarget } from '../host-files.ts';
import type { Mount } from '../mount.ts';

/** Where git's system-wide configuration is inside the sandbox. */
export const GIT_CONFIG_INSIDE = '/etc/gitconfig';

/** The lists of users, libraries, zones and certificates. All of `/etc` would expose keys and password hashes. */
export const ETC_FILES: readonly string[] = [
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
  'os-release',
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

/** The machine's own hosts file names its neighbours; Java requires its host name to resolve. */
const hostsFile = (services: readonly string[]) =>
  `${['127.0.0.1 localhost sandbox', ...services].join(' ')}\n::1 localhost sandbox\n`;

/** What the sandbox's `/etc` is built from. */
export interface Etc {
  /** A private folder for the files that are mounted. */
  readonly files: string;
  /** Text of the git configuration. */
  readonly gitConfig: string;
  /** Names of services, which are reached at the loopback interface. */
  readonly services: readonly string[];
  /** The program through which ssh reaches hosts; null for no way. */
  readonly tunnel: string | null;
  /** The user that commands run as, and its home folder. */
  readonly user: { readonly uid: number; readonly gid: number; readonly home: string };
  /** Mounted later; a mount below `/etc` needs a place there. */
  readonly later: readonly { readonly source: string; readonly at: string }[];
}

/** Makes the folder, and returns its mount and those into it. */
export function etcMounts({ files, gitConfig, services, tunnel, user, later }: Etc): Mount[] {
  const folder = join(files, 'etc');
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  writeFileSync(join(folder, 'hosts'), hostsFile(services));
  writeFileSync(join(folder, 'gitconfig'), gitConfig);
  writeFileSync(join(folder, 'passwd'), passwdFor(user, readText('/etc/passwd') ?? ''));
  writeFileSync(join(folder, 'resolv.conf'), RESOLVER);
  writeFileSync(
    join(folder, 'nsswitch.conf'),
    nameSources(readText('/etc/nsswitch.conf') ?? '', tunnel !== null),
  );
  if (tunnel !== null) {
    mkdirSync(join(folder, 'ssh'), { recursive: true, mode: 0o755 });
    writeFileSync(join(folder, 'ssh/ssh_config'), `Host *\n  ProxyCommand ${tunnel} %h %p\n`);
  }
  const extensions = phpExtensions();
  for (const place of new Set(extensions.map(({ name }) => dirname(name))))
    mkdirSync(join(folder, place), { recursive: true, mode: 0o755 });
  for (const { name, text } of extensions) writeFileSync(join(folder, name), text);
  const mounts: Mount[] = [{ kind: 'read-only', source: folder, at: '/etc' }];
  const java = (entriesOf('/etc') ?? []).map(({ name }) => name).filter((name) => name.startsWith('java-'));
  for (const name of [...ETC_FILES, ...java]) {
    const [at, place] = [join('/etc', name), join(folder, name)];
    const stats = statOfTarget(at);
    if (stats === null) continue;
    makePlace(place, stats.isDirectory());
    if (stats.isDirectory()) mounts.push({ kind: 'read-only', source: at, at, optional: true });
    else orMissing(() => copyFileSync(at, place));
  }
  for (const { source, at } of later) {
    const name = at.startsWith('/etc/') ? at.slice('/etc/'.length) : null;
    if (name !== null) makePlace(join(folder, name), statOfTarget(source)?.isDirectory() ?? true);
  }
  return mounts;
}

/** The name server knows no name: it only hears which ones are asked for (`listeners.ts`). */
const RESOLVER = 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n';

/**
 * The sources of names that programs ask. Asking a name server that is not there fails as if it might be there later, and programs
 * would try again; a name that is not found is final.
 */
function nameSources(machines: string, hasServer: boolean): string {
  const others = machines.split('\n').filter((line) => !/^\s*hosts\s*:/.test(line));
  const own = /^[ \t]*hosts[ \t]*:.*\bmyhostname\b/m.test(machines) ? ' myhostname' : '';
  return `${others.join('\n').trimEnd()}\nhosts: files${own}${hasServer ? ' dns' : ''}\n`;
}

/** Creates an empty folder or file if nothing exists yet. */
function makePlace(path: string, isFolder: boolean): void {
  mkdirSync(isFolder ? path : dirname(path), { recursive: true, mode: 0o755 });
  if (!isFolder) writeFileSync(path, '', { flag: 'a' });
}

/**
 * The machine's list, with the home folder of commands. Java, and thus Maven, looks here and not in HOME. A user missing
 * from the list is added, as in many containers and with users from a directory service.
 */
export function passwdFor({ uid, gid, home }: Etc['user'], machine: string): string {
  const users = machine.split('\n').filter((line) => line !== '');
  const isOurs = (line: string) => line.split(':')[2] === String(uid);
  const lines = users.map((line) => {
    const [name, password, id, group, words, , ...shell] = line.split(':');
    return isOurs(line) ? [name, password, id, group, words, home, ...shell].join(':') : line;
  });
  if (!users.some(isOurs)) lines.push(`agent:x:${uid}:${gid}::${home}:/bin/sh`);
  return `${lines.join('\n')}\n`;
}

/**
 * Which extensions PHP loads. Debian's packages say it in files below `/etc/php`, beside settings of all kinds, license keys and
 * passwords among them: commands see the lines that load an extension, and nothing else of them.
 */
export function phpExtensions(etc = '/etc'): { name: string; text: string }[] {
  const folders = (entriesOf(join(etc, 'php')) ?? []).map(({ name }) => join('php', name, 'cli/conf.d'));
  return folders.flatMap((folder) =>
    (entriesOf(join(etc, folder)) ?? []).flatMap(({ name }) => {
      const text = name.endsWith('.ini') ? extensionLines(readText(join(etc, folder, name)) ?? '') : '';
      return text === '' ? [] : [{ name: join(folder, name), text }];
    }),
  );
}

/** The lines of a file of settings that load an extension. */
function extensionLines(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => /^\s*(?:zend_)?extension\s*=\s*"?[\w./-]+"?\s*$/.test(line));
  return lines.map((line) => `${line.trim()}\n`).join('');
}
