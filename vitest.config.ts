import { availableParallelism } from 'node:os';
import { argv } from 'node:process';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { reportPageModule } from './scripts/report-page.mjs';
import { FEW_PAGES } from './tests/support/setup/few-pages.ts';
import { NIGHTLY_FILES } from './tests/support/setup/nightly.ts';
import { IS_FULL } from './tests/support/setup/sample.ts';
import { PATIENCE_MS } from './tests/support/waiting/patience.ts';

/** Twice as many as cores: tests of the built command wait for processes and timers now and then, and each process has to load all code. */
const WORKERS = 2 * availableParallelism();

/** What starts the built command. */
const E2E = ['tests/e2e/**/*.test.ts'];
const ATTACKS = ['tests/attacks/**/*.test.ts'];
const BUILD = ['tests/support/setup/build-once.ts'];

/** What waits begins first and what computes last, except for the small file that computes longest; within a part as usual, large files first. */
class WaitingFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const partOf = ({ moduleId }: TestSpecification) =>
      ['/tests/attacks/', '/tests/e2e/', '/tests/expressions.', ''].findIndex((folder) =>
        moduleId.includes(folder),
      );
    return (await super.sort(files)).sort((a, b) => partOf(a) - partOf(b));
  }
}

const COMMON = {
  plugins: [
    {
      name: 'report-page',
      async load(id: string) {
        return await reportPageModule(id);
      },
    },
    {
      // Prompts and templates are imported as text, as the bundler does it.
      name: 'text-as-text',
      transform(code: string, id: string) {
        return /\.(?:md|yml)$/.test(id)
          ? { code: `export default ${JSON.stringify(code)}`, map: null }
          : null;
      },
    },
  ],
  test: {
    // A file begins with what the files before it have loaded: no test replaces a module, and no module holds a state.
    isolate: false,
    // What is built is loaded as users load it.
    server: { deps: { external: [/\/dist\//] } },
    setupFiles: ['same-values', 'few-pages', 'remove-folders'].map(
      (name) => `tests/support/setup/${name}.ts`,
    ),
    env: FEW_PAGES,
    // After everything that a test waits for has given up by itself, and said what it was.
    testTimeout: PATIENCE_MS + 60_000,
    hookTimeout: PATIENCE_MS + 60_000,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
};

/** One of the parts of the suite, which `--project NAME` runs alone. */
function project(name: string, files: { include: string[]; exclude?: string[]; globalSetup?: string[] }) {
  const exclude = [...(files.exclude ?? []), ...(IS_FULL ? [] : NIGHTLY_FILES)];
  return { ...COMMON, test: { ...COMMON.test, name, ...files, exclude } };
}

/** No part and no file is asked for. */
const IS_ALL = argv[2] === 'run' && argv.slice(3).every((word) => /^--(?!project)/.test(word));

/** As one project, for whose files each test process loads everything once, and not once for each part. */
const WHOLE = [project('all', { include: ['tests/**/*.test.ts'], globalSetup: BUILD })];

const PARTS = [
  project('attacks', { include: ATTACKS, globalSetup: BUILD }),
  project('e2e', { include: E2E, globalSetup: BUILD }),
  project('unit', { include: ['tests/**/*.test.ts'], exclude: [...E2E, ...ATTACKS] }),
];

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    globalSetup: ['tests/support/setup/world.ts'],
    sequence: { sequencer: WaitingFirst },
    projects: IS_ALL ? WHOLE : PARTS,
  },
});
