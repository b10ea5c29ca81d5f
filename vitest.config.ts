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
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['tests/support/build-once.ts'],
  },
});
