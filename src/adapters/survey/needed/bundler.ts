/** Gems of a bundle of which none is installed. */

import { INSTALLERS } from '../../../domain/packages/installers.ts';
import type { Folder } from '../project.ts';
import type { NeededPackages } from './needed.ts';

const BUNDLER = /^bundle exec(?: [\w.,:=/@+-]+)+$/;

/** Bundler starts nothing while a gem is missing. Settings may leave out some gems, but not all. */
export async function ofBundler(folder: Folder, command: string): Promise<NeededPackages | null> {
  if (!BUNDLER.test(command)) return null;
  const lock = (await folder.text('Gemfile.lock')) ?? '';
  const [, gems = ''] =
    /^GEM\n {2}remote: https:\/\/rubygems\.org\/\n {2}specs:\n((?: {4}.*\n)+)/m.exec(lock) ?? [];
  const names = [...gems.matchAll(/^ {4}([\w.-]{1,100}) \(/gm)].map(([, name]) => name ?? '');
  const [first] = names;
  if (first === undefined || (await folder.text('.bundle/config'))?.includes('BUNDLE_PATH: "/')) return null;
  const { hosts, locked } = INSTALLERS.bundler;
  return {
    command,
    manager: null,
    what: `no gem of Gemfile.lock (${first}, …) is installed`,
    look: [
      '[ -z "$BUNDLE_PATH$BUNDLE_GEMFILE" ] || exit 0',
      'for folder in $(gem env gempath | tr : " ") vendor/bundle/ruby/* .bundle/ruby/*; do',
      `for name in ${names.join(' ')}; do for file in "$folder"/specifications/$name-[0-9]* "$folder"/specifications/default/$name-[0-9]* "$folder"/bundler/gems/*; do [ ! -e "$file" ] || exit 0; done; done; done`,
      'exit 1',
    ].join('\n'),
    line: locked,
    hosts,
  };
}
