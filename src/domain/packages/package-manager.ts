/** The package managers whose caches commands may use, and how a repository says which ones it has. */

/** As given to `--cache`. */
export const PACKAGE_MANAGERS = [
  'npm',
  'pnpm',
  'yarn',
  'pip',
  'uv',
  'cargo',
  'go',
  'maven',
  'gradle',
  'bundler',
] as const;

/** One of `PACKAGE_MANAGERS`. */
export type PackageManager = (typeof PACKAGE_MANAGERS)[number];

/** Files that say who manages the packages. Of a build's own file, where the manager has no lock file by default. */
const FILES: Readonly<Record<string, PackageManager>> = {
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'requirements.txt': 'pip',
  'pylock.toml': 'pip',
  'uv.lock': 'uv',
  'Cargo.lock': 'cargo',
  'go.sum': 'go',
  'pom.xml': 'maven',
  'gradle.lockfile': 'gradle',
  'build.gradle': 'gradle',
  'build.gradle.kts': 'gradle',
  'settings.gradle': 'gradle',
  'settings.gradle.kts': 'gradle',
  'Gemfile.lock': 'bundler',
};

/** The package managers of a folder with files of these names, in the order of `PACKAGE_MANAGERS`. */
export function managersOf(names: readonly string[]): PackageManager[] {
  const found = new Set(names.map((name) => (Object.hasOwn(FILES, name) ? FILES[name] : undefined)));
  return PACKAGE_MANAGERS.filter((manager) => found.has(manager));
}
