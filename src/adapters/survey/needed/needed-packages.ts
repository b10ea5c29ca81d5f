/**
 * Packages without which a verify command certainly fails, for managers that keep them outside the checkout.
 * Uncertain cases (another folder, options that select packages, sources replaced by settings) are left to the
 * command.
 */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { openFolder } from '../folder.ts';
import { at, type Folder, keysAt, textAt } from '../project.ts';
import { ofBundler } from './bundler.ts';
import { ofGo } from './go.ts';
import { ofGradle } from './gradle.ts';
import type { NeededPackages } from './needed.ts';

/** Words without shell syntax that do not name another place. */
const WORDS = String.raw`(?: (?!-p|-C|-Z|-f\b|-s\b|-gs\b|-P|-N|-rf|--projects|--non-recursive|--resume-from|--package|--exclude|--manifest-path|--config|--file|--settings|--features|-Dmaven\.repo)[\w.,:=/@+-]+)*`;
const CARGO = new RegExp(
  `^cargo(?: \\+[\\w.-]+)? (test|t|build|b|check|c|clippy|nextest run|bench|run)${WORDS}$`,
);
const MAVEN = new RegExp(`^(?:mvn|\\./mvnw)(?= )${WORDS} (?:compile|test|package|verify|install)${WORDS}$`);

/** `root` is the work tree: anyone may have written its files, so they are read and not executed. */
export async function neededPackages(root: string, commands: readonly string[]): Promise<NeededPackages[]> {
  const folder = openFolder(root, '', new Map());
  if (folder === null) return [];
  const found = commands.map(async (command) => {
    for (const of of MANAGERS) {
      const needed = await of(folder, command);
      if (needed !== null) return needed;
    }
    return null;
  });
  return (await Promise.all(found)).filter((one) => one !== null);
}

/** Packages that the project in the root names itself, whatever the platform and the features. */
async function ofCargo(folder: Folder, command: string): Promise<NeededPackages | null> {
  const [, task] = CARGO.exec(command) ?? [];
  if (task === undefined || !folder.names.has('Cargo.lock')) return null;
  const manifest = await folder.toml('Cargo.toml');
  if (at(manifest, 'workspace', 'default-members') !== undefined) return null;
  if (at(manifest, 'package') === undefined || at(manifest, 'replace') !== undefined) return null;
  const isTest = /^(?:t|test|nextest run|bench)$/.test(task);
  const tables = isTest ? ['dependencies', 'dev-dependencies'] : ['dependencies'];
  const locked = lockedNames((await folder.text('Cargo.lock')) ?? '');
  const name = tables
    .flatMap((table) => keysAt(manifest, table).map((key) => crateOf(at(manifest, table, key), key)))
    .find((crate) => crate !== null && locked.has(crate));
  if (!name) return null;
  return {
    command,
    manager: 'cargo',
    what: `the package ${name} of Cargo.lock is not in Cargo's home`,
    look: cargoLook(name),
    line: 'cargo fetch --locked',
    hosts: HOSTS.cargo,
  };
}

/** The name in the registry; null if the package may come from elsewhere, or may not be needed. */
function crateOf(dependency: unknown, key: string): string | null {
  if (typeof dependency === 'string') return key;
  const isOwn = ['path', 'git', 'workspace', 'registry'].some((field) => at(dependency, field) !== undefined);
  if (isOwn || at(dependency, 'optional') === true) return null;
  return textAt(dependency, 'package') ?? key;
}

/** Names of the packages from a registry. Nothing else about them gets into a script. */
function lockedNames(lock: string): ReadonlySet<string> {
  const packages = lock.split(/^\[\[package\]\]$/m).slice(1);
  return new Set(
    packages.flatMap((text) => {
      const [, name] = /^name = "([\w-]{1,64})"$/m.exec(text) ?? [];
      return name !== undefined && /^source = "(?:registry|sparse)\+https:/m.test(text) ? [name] : [];
    }),
  );
}

/** Any version counts, since the lock file may be older than the manifest; settings may replace the registry. */
function cargoLook(name: string): string {
  return [
    `home=\${CARGO_HOME:-$HOME/.cargo}; at=$PWD`,
    'while :; do for file in "$at"/.cargo/config "$at"/.cargo/config.toml; do [ ! -e "$file" ] || exit 0; done; [ "$at" != / ] || break; at=$(dirname "$at"); done',
    `for file in "$home"/config "$home"/config.toml "$home"/registry/cache/*/${name}-[0-9]* "$home"/registry/src/*/${name}-[0-9]*; do [ ! -e "$file" ] || exit 0; done`,
    'exit 1',
  ].join('\n');
}

/** Maven compiles and tests with plugins, which are also packages. */
async function ofMaven(folder: Folder, command: string): Promise<NeededPackages | null> {
  if (!MAVEN.test(command)) return null;
  for (const file of ['maven.config', 'settings.xml', 'extensions.xml'])
    if ((await folder.text(`.mvn/${file}`)) !== null) return null;
  if (/maven\.repo|settings/.test((await folder.text('.mvn/jvm.config')) ?? '')) return null;
  if (!(await isCompiled(folder))) return null;
  const [program = 'mvn'] = command.split(' ');
  return {
    command,
    manager: 'maven',
    what: 'no plugin of Maven is in ~/.m2/repository',
    look: MAVEN_LOOK,
    line: `${program} test`,
    hosts: HOSTS.maven,
  };
}

/** Modules of the project that are looked at. */
const MAX_MODULES = 20;

/** Whether Maven compiles something in the root, or in one of the modules that are there without a profile. */
async function isCompiled(folder: Folder): Promise<boolean> {
  const root = await activeIn(folder, 'pom.xml');
  if (root === null || hasOwnPlaces(root)) return false;
  if (!/<packaging>\s*pom\b/.test(root)) return !root.includes('<modules>');
  const modules = [...root.matchAll(/<module>\s{0,9}([\w-][\w.-]{0,99})\s{0,9}<\/module>/g)];
  for (const [, name = ''] of modules.slice(0, MAX_MODULES)) {
    const module = await activeIn(folder, `${name}/pom.xml`);
    if (module === null || hasOwnPlaces(module)) continue;
    if (!/<packaging>\s*(?!jar\b|war\b)|<modules>/.test(module)) return true;
  }
  return false;
}

/** Without comments and profiles. */
async function activeIn(folder: Folder, path: string): Promise<string | null> {
  const [first = '', ...rest] = ((await folder.text(path)) ?? '').split('<!--');
  const texts = rest.map((text) => (text.includes('-->') ? text.slice(text.indexOf('-->') + 3) : ''));
  const text = [first, ...texts].join('');
  const [from, to] = [text.indexOf('<profiles>'), text.lastIndexOf('</profiles>')];
  if (text === '') return null;
  return from < 0 || to < from ? text : text.slice(0, from) + text.slice(to);
}

/** Repositories of files, which need no network. */
function hasOwnPlaces(pom: string): boolean {
  return pom.includes('file:');
}

/** Machine settings may name another repository; the user's are hidden. */
const MAVEN_LOOK = [
  'case "$MAVEN_OPTS $MAVEN_ARGS" in *maven.repo*|*-s*) exit 0;; esac',
  'mvn=$(readlink -f "$(command -v mvn)")',
  `for file in /etc/maven/settings.xml "\${mvn%/bin/*}/conf/settings.xml"; do ! grep -s "<localRepository>" "$file" | grep -qv /path/to/local/repo || exit 0; done`,
  '[ -d ~/.m2/repository/org/apache/maven/plugins ]',
].join('\n');

const MANAGERS = [ofCargo, ofMaven, ofGo, ofGradle, ofBundler];
