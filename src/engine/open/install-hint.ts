/** What to type where a command lacks a program or a package, by the names of the files in a project's root. */

import { existsSync, readdirSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type Installing, installerFor, toolHint } from '../../domain/packages.ts';
import { oneLine } from '../../domain/text/terminal.ts';

/**
 * One or two sentences with a leading space for a command that lacks something; empty where the files do not tell, or where all
 * is installed. Only names are looked at, in the folder that the command runs in, relative to the root.
 */
export function installHint(root: string | null, command: string, folder = '.'): string {
  const installer = installerIn(root, command, folder);
  if (root === null || installer === null || existsSync(join(root, folder, installer.makes))) return '';
  const { line, hosts, makes } = installer;
  const domains = hosts.map((host) => `--allow-domain ${host}`).join(' ');
  const use =
    makes === '.venv' && !command.includes('.venv/')
      ? ' Name the programs in it, as in .venv/bin/python -m pytest.'
      : '';
  return ` There is no ${makes}. Install by hand: ${line} – or in every run: --setup ${JSON.stringify(line)} ${domains}.${use}`;
}

/** What installs the packages that a command needs in that folder; its line is one for the root. */
function installerIn(root: string | null, command: string, folder = '.'): Installing | null {
  if (root === null || folder.startsWith('/')) return null;
  const installer = installerFor(namesIn(join(root, folder)), command);
  const path = normalize(folder);
  return installer === null || path === '.'
    ? installer
    : { ...installer, line: `cd ${path} && ${installer.line}` };
}

/** The same for a missing program, which may have to be installed itself or belong to one of the project's packages. */
export function missingProgramHint(
  root: string | null,
  program: string,
  command: string,
  folder = '.',
): string {
  const names = root === null ? [] : namesIn(root);
  const tool = program === 'yarn' && names.includes('.yarnrc.yml') ? 'berry' : program;
  return toolHint(tool) || installHint(root, `${program} ${command}`, folder);
}

/** Empty for a folder that is not there, or that a command replaces or closes at this moment: it is a hint. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** The line in which a language says that a package is missing: often far above the end. Null where none does. */
export function missingPackage(output: string): string | null {
  const lines = stripVTControlCharacters(output).split('\n');
  const line = lines.find((one) => NOT_INSTALLED.test(one));
  return line === undefined ? null : oneLine(line.trim().replace(/\s+/g, ' '), 160);
}

/** Python, Node.js, Bundler and PHP. A module of the repository itself has a path, or is relative. */
const NOT_INSTALLED =
  /No module named '?[\w.]+'?\s*$|Cannot find (?:package|module) '(?:@[\w.-]+\/)?[\w.-]+'|^Could not find .* in (?:locally installed gems|any of the sources|.*installed locally)|vendor\/autoload\.php.*[Nn]o such file/;

/** What package managers print if something is not in the cache they are restricted to: npm, pnpm, Cargo, Go, Maven, Gradle. */
const NOT_CACHED =
  /\bENOTCACHED\b|ERR_PNPM_NO_OFFLINE|but --offline was specified|\(--offline\)|disabled by GOPROXY=off|in offline mode and the artifact|No cached version (of \S+ )?available for offline mode/;

/** One sentence with a leading space if a visible cache lacks locked packages, else empty. */
export function cacheHint(caches: readonly string[], output: string): string {
  if (caches.length === 0 || !NOT_CACHED.test(output)) return '';
  return " This machine's cache (--cache) lacks packages: install them once by hand, outside of a run.";
}
