/** PHP with Composer: PHPUnit, Pest, PHPStan. */

import { INSTALLERS } from '../../../domain/packages/installers.ts';
import {
  at,
  type Ecosystem,
  type Folder,
  found,
  guessed,
  keysAt,
  type Said,
  textAt,
  unlessMade,
} from '../project.ts';

/** The entry of the registry. */
export const php: Ecosystem = {
  extensions: ['.php'],
  versionCommand: 'php --version',
  manifests: ['composer.json'],
  async look(folder) {
    const manifest = await folder.json('composer.json');
    const lockfile = folder.first('composer.lock');
    const packages = [...keysAt(manifest, 'require'), ...keysAt(manifest, 'require-dev')];
    const { hosts, locked, makes } = INSTALLERS.composer;
    const install = unlessMade(makes, locked);
    const [, least = null] =
      /(\d{1,9}\.\d{1,9})/.exec(textAt(manifest, 'require', 'php')?.slice(0, 100) ?? '') ?? [];
    const version = least !== null && Number(least) >= 8 ? least : '8.3';
    return {
      ecosystem: 'PHP',
      manager: found('composer', 'composer.json'),
      lockfile,
      setup: [lockfile === null ? guessed(install, 'there is no composer.lock') : found(install, lockfile)],
      test: testOf(manifest, packages, folder),
      lint: lintOf(packages, folder),
      build: null,
      domains: hosts,
      cache: null,
      steps: [
        {
          name: 'Install PHP',
          uses: 'shivammathur/setup-php',
          with: { 'php-version': version, coverage: 'none' },
        },
      ],
      guesses: [
        `PHP ${version}, ${version === least ? 'the least that composer.json requires' : 'since composer.json requires no newer one'}`,
      ],
      makes,
      decisions: [
        'Composer downloads packages from codeload.github.com: anyone with a repository there could receive data. Decide whether commands may reach it.',
      ],
    };
  },
};

function testOf(manifest: unknown, packages: readonly string[], { first }: Folder): Said | null {
  if (at(manifest, 'scripts', 'test') !== undefined)
    return found('composer test', 'composer.json, scripts.test');
  if (packages.includes('pestphp/pest')) return found('vendor/bin/pest', 'composer.json, require-dev');
  const config = first('phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml');
  if (config !== null) return found('vendor/bin/phpunit', config);
  if (packages.includes('phpunit/phpunit')) return guessed('vendor/bin/phpunit', 'it is among the packages');
  return null;
}

function lintOf(packages: readonly string[], { first }: Folder): Said | null {
  const config = first('phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon');
  if (config === null) return null;
  const command = 'vendor/bin/phpstan analyse --no-progress';
  return packages.includes('phpstan/phpstan')
    ? found(command, config)
    : guessed(command, `${config} has its rules, but nothing installs it`);
}
