/** Ruby with Bundler: RSpec, Minitest, Rails. */

import { INSTALLERS } from '../../../domain/packages/installers.ts';
import { type Ecosystem, type Folder, found, guessed, type Said, unlessMade } from '../project.ts';
import { plainVersion } from '../workflow-step.ts';

/** The entry of the registry. */
export const ruby: Ecosystem = {
  extensions: ['.rb', '.rake', '.erb'],
  versionCommand: 'ruby --version',
  manifests: ['Gemfile', '*.gemspec'],
  async look(folder) {
    const { hosts, locked, makes } = INSTALLERS.bundler;
    const gemspec = folder.first('*.gemspec');
    const sources = await Promise.all(
      ['Gemfile', 'Gemfile.lock', 'Rakefile', ...(gemspec === null ? [] : [gemspec])].map((name) =>
        folder.text(name),
      ),
    );
    const [gemfile, , rakefile] = sources;
    const everything = sources.join('\n');
    const lockfile = folder.first('Gemfile.lock');
    const version = plainVersion(await folder.text('.ruby-version'));
    const rubocop = folder.first('.rubocop.yml');
    const file = gemfile === null ? '*.gemspec' : 'Gemfile';
    return {
      ecosystem: 'Ruby',
      manager: gemfile === null ? guessed('bundler', 'there is no Gemfile') : found('bundler', 'Gemfile'),
      lockfile,
      setup: [found(unlessMade(makes, `{ ${locked}; }`), lockfile ?? file)],
      test: testOf(folder, everything, rakefile ?? ''),
      lint:
        rubocop === null
          ? null
          : /\brubocop\b/.test(everything)
            ? found('bundle exec rubocop', rubocop)
            : guessed('bundle exec rubocop', `${rubocop} has its rules, but nothing installs it`),
      build: null,
      domains: hosts,
      cache: null,
      steps: [
        {
          name: 'Install Ruby',
          uses: 'ruby/setup-ruby',
          with: version === null ? { 'ruby-version': '3.4' } : { 'ruby-version': version },
        },
      ],
      guesses: version === null ? ['Ruby 3.4, since there is no .ruby-version with a number'] : [],
      makes,
      decisions: [],
    };
  },
};

function testOf({ names, inWorkflows }: Folder, everything: string, rakefile: string): Said | null {
  if (names.has('.rspec')) return found('bundle exec rspec', '.rspec');
  if (names.has('spec') && /\brspec\b/.test(everything))
    return found('bundle exec rspec', 'spec, with rspec among the gems');
  if (names.has('test') && /^[ \t]*gem ["']rails["']/m.test(everything))
    return found('bundle exec rails test', 'test, with rails among the gems');
  if (/TestTask|task[ (]:?["']?test\b/.test(rakefile)) return found('bundle exec rake test', 'Rakefile');
  const workflow = inWorkflows('rake test');
  if (names.has('Rakefile') && workflow !== null) return found('bundle exec rake test', workflow);
  if (names.has('Rakefile')) return guessed('bundle exec rake', 'the default task mostly runs the tests');
  return null;
}
