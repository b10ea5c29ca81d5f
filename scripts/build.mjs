/**
 * Bundles the program into a folder, dist/ unless another is named: the command line as an entry with lazily loaded chunks, so
 * that --help does not pay for the SDK, and the action as one file that is committed.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const outdir = process.argv[2] ?? 'dist';

const common = {
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  loader: { '.md': 'text', '.yml': 'text' },
  // CommonJS dependencies load node's modules with it.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  // Half the text to read at every start; names stay as they are, for those who read a stack trace.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  logLevel: 'warning',
};

// The ripgrep of the action is no work of this script (scripts/ripgrep.mjs).
for (const name of outdir === 'dist' ? builtBefore() : []) rmSync(`${outdir}/${name}`);

const [cli, action] = await Promise.all([
  build({
    ...common,
    entryPoints: { cli: 'src/cli.ts' },
    splitting: true,
    metafile: true,
    // Ships its binary in platform packages, which a bundle cannot carry.
    external: ['@vscode/ripgrep'],
  }),
  build({
    ...common,
    entryPoints: { action: 'src/action.ts' },
    legalComments: 'none',
    metafile: true,
    alias: { '@vscode/ripgrep': './src/adapters/workspace/search/bundled-ripgrep.ts' },
  }),
]);
// The two steps are told apart by a file of their own: a post step whose main step was killed at once knows nothing else.
writeFileSync(`${outdir}/action-post.js`, "process.argv[2] = 'post';\nawait import('./action.js');\n");

for (const [name, { metafile }] of Object.entries({ cli, action }))
  writeFileSync(`${outdir}/${name}.licenses.txt`, licensesOf(Object.keys(metafile.inputs)));

/** The licences of all packages that a bundle holds a part of. */
function licensesOf(sources) {
  const folders = new Set(
    sources.flatMap((path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? []),
  );
  return [...folders]
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder)
        .sort()
        .find((entry) => /^licen[cs]e/i.test(entry));
      const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    })
    .join(`\n${'-'.repeat(80)}\n\n`);
}

function builtBefore() {
  try {
    return readdirSync(outdir).filter((name) => /\.(js|txt)$/.test(name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
