import { defineConfig } from 'vitest/config';
import { PATIENCE_MS } from './tests/support/waiting/patience.ts';

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
    // After everything that a test waits for has given up by itself, and said what it was.
    testTimeout: PATIENCE_MS + 60_000,
    hookTimeout: PATIENCE_MS + 60_000,
    globalSetup: ['tests/support/setup/world.ts', 'tests/support/setup/build-once.ts'],
  },
});
