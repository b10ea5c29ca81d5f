/** The cache of `--cache` that `init` names for a project, and how it is filled. */

import { INSTALLERS } from '../../domain/packages/installers.ts';
import { managersOf, type PackageManager } from '../../domain/packages/package-manager.ts';
import type { Folder, ProjectCache } from './project.ts';

/** An installation without package scripts must not be mistaken for a complete one. */
const LEAVE_NOTHING = `rm -rf ${INSTALLERS.npm.makes}`;

/**
 * For a manager without workflow `steps`, filling would run code from packages or the project. A bundle with its own
 * folder does not use the machine's gems.
 */
const FILLED: Readonly<Record<Exclude<PackageManager, 'bundler'>, Omit<ProjectCache, 'manager'>>> = {
  npm: { filledBy: INSTALLERS.npm.locked, steps: ['npm ci --ignore-scripts', LEAVE_NOTHING] },
  pnpm: {
    filledBy: INSTALLERS.pnpm.locked,
    steps: [`${INSTALLERS.pnpm.locked} --ignore-scripts`, LEAVE_NOTHING],
  },
  yarn: {
    filledBy: INSTALLERS.yarn.locked,
    steps: [`${INSTALLERS.yarn.locked} --ignore-scripts`, LEAVE_NOTHING],
  },
  pip: { filledBy: INSTALLERS.pip.locked, steps: null },
  uv: { filledBy: INSTALLERS.uv.locked, steps: null },
  cargo: { filledBy: 'cargo fetch --locked', steps: ['cargo fetch --locked'] },
  go: { filledBy: 'go mod download', steps: ['go mod download'] },
  maven: { filledBy: 'mvn test', steps: null },
  gradle: { filledBy: 'gradle test', steps: null },
};

/** That of `manager`, where `--cache auto` would take it, too; null for one that has no cache, or none by the files here. */
export function cacheOf(
  folder: Folder,
  manager: string,
  own: Partial<Omit<ProjectCache, 'manager'>> = {},
): ProjectCache | null {
  const found = managersOf([...folder.names]).find((one) => one === manager);
  return found === undefined || found === 'bundler' ? null : { manager: found, ...FILLED[found], ...own };
}
