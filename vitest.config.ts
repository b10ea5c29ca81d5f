import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { reportPageModule } from './scripts/report-page.mjs';
import { FEW_PAGES } from './tests/support/setup/few-pages.ts';
import { IS_FULL } from './tests/support/setup/sample.ts';
import { PATIENCE_MS } from './tests/support/waiting/patience.ts';

/** Twice as many as cores: tests of the built command wait for processes and timers now and then, and each process has to load all code. */
const WORKERS = 2 * availableParallelism();

/** What starts the built command. */
const E2E = ['tests/e2e/**/*.test.ts'];
const ATTACKS = ['tests/attacks/**/*.test.ts'];
const BUILD = ['tests/support/setup/build-once.ts'];

/** What only the night has time for: other files try the same kinds of things, on fewer places. docs/testing.md says which. */
const NIGHTLY = IS_FULL
  ? []
  : [
      'tests/attacks/none.test.ts',
      'tests/e2e/action/cancel.test.ts',
      'tests/e2e/commands/replay-ignored.test.ts',
      'tests/e2e/compaction/faults.test.ts',
      'tests/e2e/compaction/server.test.ts',
      'tests/e2e/follow-up/conflicts.test.ts',
      'tests/e2e/limits/memory.test.ts',
      'tests/e2e/machine/faults.test.ts',
      'tests/e2e/machine/provider-faults.test.ts',
      'tests/e2e/machine/terminal.test.ts',
      'tests/e2e/publish/routes.test.ts',
      'tests/e2e/publish/wishes.test.ts',
      'tests/e2e/repositories/checkouts.test.ts',
      'tests/e2e/repositories/closed-places.test.ts',
      'tests/e2e/repositories/moved-repositories.test.ts',
      'tests/e2e/repositories/nested-repositories.test.ts',
      'tests/e2e/repositories/planted-repository.test.ts',
      'tests/e2e/resume/early-reads.test.ts',
      'tests/e2e/resume/reopened-checkouts.test.ts',
      'tests/e2e/resume/stopped.test.ts',
      'tests/e2e/run/verify-in.test.ts',
      'tests/e2e/verify/verify-in-cut-short.test.ts',
      'tests/engine/finish/attribution-property.test.ts',
    ];

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
    setupFiles: ['tests/support/setup/same-values.ts', 'tests/support/setup/few-pages.ts'],
    env: FEW_PAGES,
    // After everything that a test waits for has given up by itself, and said what it was.
    testTimeout: PATIENCE_MS + 60_000,
    hookTimeout: PATIENCE_MS + 60_000,
    expect: { poll: { timeout: PATIENCE_MS } },
  },
};

/** One of the parts of the suite, which `--project NAME` runs alone. */
function project(name: string, files: { include: string[]; exclude?: string[]; globalSetup?: string[] }) {
  const exclude = [...(files.exclude ?? []), ...NIGHTLY];
  return { ...COMMON, test: { ...COMMON.test, name, ...files, exclude } };
}

export default defineConfig({
  test: {
    maxWorkers: WORKERS,
    globalSetup: ['tests/support/setup/world.ts'],
    // They begin in the order of their names: what waits first, what computes last.
    projects: [
      project('attacks', { include: ATTACKS, globalSetup: BUILD }),
      project('e2e', { include: E2E, globalSetup: BUILD }),
      project('unit', { include: ['tests/**/*.test.ts'], exclude: [...E2E, ...ATTACKS] }),
    ],
  },
});
