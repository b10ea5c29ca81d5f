import { defineConfig } from 'vitest/config';

export default defineConfig({
  plugins: [
    {
      // Prompts are imported as text, as the bundler does it.
      name: 'markdown-as-text',
      transform(code, id) {
        return id.endsWith('.md') ? { code: `export default ${JSON.stringify(code)}`, map: null } : null;
      },
    },
  ],
  test: {
    include: ['tests/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['tests/support/build-once.ts'],
  },
});
