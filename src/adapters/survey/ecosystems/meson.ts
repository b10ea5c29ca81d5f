/** C, C++ and others that Meson builds. */

import { type Ecosystem, found } from '../project.ts';

const FILE = 'meson.build';
/** Does nothing where there is a build. */
const SETUP = 'meson setup build';

/** The entry of the registry. */
export const meson: Ecosystem = {
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.vala'],
  versionCommand: 'meson --version',
  manifests: [FILE],
  async look(folder) {
    const text = (await folder.text(FILE)) ?? '';
    const hasTests = /^[ \t]*(?:test\s*\(|subdir\s*\(\s*'tests?')/m.test(text);
    return {
      ecosystem: 'Meson',
      manager: found('meson', FILE),
      lockfile: null,
      setup: [],
      test: hasTests ? found(`${SETUP} && meson test -C build --print-errorlogs`, FILE) : null,
      lint: null,
      build: found(`${SETUP} && meson compile -C build`, FILE),
      domains: [],
      cache: null,
      steps: [{ name: 'Install Meson', run: 'pipx install meson ninja' }],
      guesses: [],
      makes: 'build',
      decisions: folder.names.has('subprojects')
        ? [
            'Meson may load sources of subprojects when it configures: have them in the checkout, or allow their hosts.',
          ]
        : [],
    };
  },
};
