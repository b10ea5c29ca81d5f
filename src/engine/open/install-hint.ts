/** What to type where a command lacks a program or a package, by the names of the files in a project's root. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { installerFor } from '../../domain/packages/installers.ts';
import { toolHint } from '../../domain/packages/tools.ts';

/**
 * One or two sentences with a leading space for a command that lacks something; empty where the files do not tell, or where all
 * is installed. Only names are looked at.
 */
export function installHint(root: string | null, command: string): string {
  if (root === null) return '';
  const installer = installerFor(readdirSync(root), command);
  if (installer === null || existsSync(join(root, installer.makes))) return '';
  const { line, hosts, makes } = installer;
  const domains = hosts.map((host) => `--allow-domain ${host}`).join(' ');
  const use =
    makes === '.venv' && !command.includes('.venv/')
      ? ' Name the programs in it, as in .venv/bin/python -m pytest.'
      : '';
  return ` There is no ${makes}. Install by hand: ${line} – or in every run: --setup ${JSON.stringify(line)} ${domains}.${use}`;
}

/** The same for a program that is not found, itself one to be installed or one of the packages of the project. */
export function missingProgramHint(root: string | null, program: string, command: string): string {
  return toolHint(program) || installHint(root, `${program} ${command}`);
}
