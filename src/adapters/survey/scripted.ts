/** Ruby with Bundler, and PHP with Composer. */

import { MANAGERS } from '../../domain/packages/managers.ts';
import {
  at,
  type Ecosystem,
  type Folder,
  found,
  group,
  guessed,
  keysAt,
  linter,
  type Said,
  textAt,
  unlessMade,
} from './project.ts';
import { plainVersion, setup } from './workflow-step.ts';

/** RSpec, Minitest, Rails. */
export const ruby: Ecosystem = {
  name: 'Ruby',
  extensions: ['.rb', '.rake', '.erb'],
  versionCommand: 'ruby --version',
  manifests: ['Gemfile', '*.gemspec'],
  async look(folder, file) {
    const { hosts, locked, makes } = MANAGERS.bundler;
    const named = ['Gemfile', 'Gemfile.lock', 'Rakefile', folder.first('*.gemspec')];
    const everything = named.map((name) => folder.text(name)).join('\n');
    const lockfile = folder.first('Gemfile.lock');
    const version = plainVersion(folder.text('.ruby-version')) ?? '3.4';
    return {
      manager: found('bundler', file),
      lockfile,
      setup: [found(unlessMade(makes, `{ ${locked}; }`), lockfile ?? file)],
      test: rubyTest(folder, everything),
      lint: linter('bundle exec rubocop', folder.first('.rubocop.yml'), /\brubocop\b/.test(everything)),
      domains: hosts,
      steps: [setup('Ruby', 'ruby/setup-ruby', { 'ruby-version': version })],
      makes,
    };
  },
};

function rubyTest({ names, text, inWorkflows }: Folder, everything: string): Said | null {
  if (names.has('.rspec')) return found('bundle exec rspec', '.rspec');
  if (names.has('spec') && /\brspec\b/.test(everything))
    return found('bundle exec rspec', 'spec, with rspec among the gems');
  if (names.has('test') && /^[ \t]*gem ["']rails["']/m.test(everything))
    return found('bundle exec rails test', 'test, with rails among the gems');
  if (!names.has('Rakefile')) return null;
  const isTask = /TestTask|task[ (]:?["']?test\b/.test(text('Rakefile'));
  const where = isTask ? 'Rakefile' : inWorkflows('rake test');
  return where === null
    ? guessed('bundle exec rake', 'the default task mostly runs the tests')
    : found('bundle exec rake test', where);
}

/** PHPUnit, Pest, PHPStan. */
export const php: Ecosystem = {
  name: 'PHP',
  extensions: ['.php'],
  versionCommand: 'php --version',
  manifests: ['composer.json'],
  async look(folder, file) {
    const manifest = folder.json(file);
    const lockfile = folder.first('composer.lock');
    const packages = [...keysAt(manifest, 'require'), ...keysAt(manifest, 'require-dev')];
    const { hosts, locked, makes } = MANAGERS.composer;
    const install = unlessMade(makes, locked);
    const least = group(/(\d{1,9}\.\d{1,9})/, textAt(manifest, 'require', 'php').slice(0, 100));
    const rules = folder.first('phpstan.neon', 'phpstan.neon.dist', 'phpstan.dist.neon');
    const config = folder.first('phpunit.xml', 'phpunit.xml.dist', 'phpunit.dist.xml');
    const test = () => {
      if (at(manifest, 'scripts', 'test') !== undefined)
        return found('composer test', `${file}, scripts.test`);
      if (packages.includes('pestphp/pest')) return found('vendor/bin/pest', `${file}, require-dev`);
      if (config !== null) return found('vendor/bin/phpunit', config);
      return packages.includes('phpunit/phpunit')
        ? guessed('vendor/bin/phpunit', 'it is among the packages')
        : null;
    };
    return {
      manager: found('composer', file),
      lockfile,
      setup: [lockfile === null ? guessed(install, 'there is no composer.lock') : found(install, lockfile)],
      test: test(),
      lint: linter('vendor/bin/phpstan analyse --no-progress', rules, packages.includes('phpstan/phpstan')),
      domains: hosts,
      steps: [
        setup('PHP', 'shivammathur/setup-php', {
          'php-version': Number(least) >= 8 ? least : '8.3',
          coverage: 'none',
        }),
      ],
      makes,
      decisions: [
        'Composer downloads packages from codeload.github.com: anyone with a repository there could receive data. Decide whether commands may reach it.',
      ],
    };
  },
};
