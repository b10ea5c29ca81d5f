/** A Makefile: for projects of other languages, and for a test command that nothing else names. */

import { type Ecosystem, type Folder, found, type Said } from '../project.ts';

/** The entry of the registry. */
export const make: Ecosystem = {
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.sh'],
  versionCommand: null,
  manifests: ['GNUmakefile', 'makefile', 'Makefile'],
  async look(folder) {
    const file = folder.first(...make.manifests) ?? 'Makefile';
    return {
      ecosystem: 'Make',
      manager: found('make', file),
      lockfile: null,
      setup: [],
      test: await makeTarget(folder, 'test', 'check'),
      lint: await makeTarget(folder, 'lint'),
      build: found('make', file),
      domains: [],
      cache: null,
      steps: [],
      guesses: [],
      makes: null,
      decisions: [],
    };
  },
};

/** `make NAME` for the first of these targets that a makefile has. */
export async function makeTarget(folder: Folder, ...names: readonly string[]): Promise<Said | null> {
  const file = folder.first(...make.manifests);
  const text = file === null ? null : await folder.text(file);
  if (file === null || text === null) return null;
  const targets = new Set(
    text.split('\n').flatMap((line) => /^([^\s#:=][^:=#]*)::?(?![:=])/.exec(line)?.[1]?.split(/\s+/) ?? []),
  );
  const name = names.find((one) => targets.has(one));
  return name === undefined ? null : found(`make ${name}`, file);
}
