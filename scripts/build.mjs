// Bundles the command line into dist/: one entry and lazily loaded chunks, so that --help does not pay for the SDK.
import { rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: { cli: 'src/cli.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  loader: { '.md': 'text' },
  // Ships its binary in platform packages, which a bundle cannot carry.
  external: ['@vscode/ripgrep'],
  // CommonJS dependencies load node's modules with it.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  // Half the text to read at every start; names stay as they are, for those who read a stack trace.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  logLevel: 'warning',
});
