import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [
    {
      // Prompts and templates are imported as text, as the bundler does it.
      name: 'text-as-text',
      transform(code, id) {
        return /\.(?:md|yml)$/.test(id)
          ? { code: `export default ${JSON.stringify(code)}`, map: null }
          : null;
      },
    },
  ],
  test: {
    include: ['tests/**/*.test.ts'],
    // Tests wait for processes more than they compute.
    maxWorkers: '100%',
    // For hangs alone: what a test takes on a busy machine says nothing.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    globalSetup: ['tests/support/build-once.ts'],
  },
});
