/** C and C++ that CMake builds. */

import { type Ecosystem, found } from '../project.ts';

const FILE = 'CMakeLists.txt';
const BUILD = 'cmake -B build && cmake --build build';

/** The entry of the registry. */
export const cmake: Ecosystem = {
  extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.cmake'],
  versionCommand: 'cmake --version',
  manifests: [FILE],
  async look(folder) {
    const text = (await folder.text(FILE)) ?? '';
    const hasTests = /^[ \t]*(?:enable_testing\s*\(|include\s*\(\s*CTest\b)/im.test(text);
    return {
      ecosystem: 'CMake',
      manager: found('cmake', FILE),
      lockfile: null,
      setup: [],
      test: hasTests ? found(`${BUILD} && ctest --test-dir build --output-on-failure`, FILE) : null,
      lint: null,
      build: found(BUILD, FILE),
      domains: [],
      cache: null,
      steps: [],
      guesses: [],
      makes: 'build',
      decisions: /\b(?:FetchContent_Declare|ExternalProject_Add|CPMAddPackage)\b/.test(text)
        ? [
            'CMake downloads third-party sources when it configures: add them to the checkout, or allow their hosts.',
          ]
        : [],
    };
  },
};
