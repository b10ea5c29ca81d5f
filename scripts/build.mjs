/**
 * Bundles the program into a folder, by default dist/: the command line as an entry with lazily loaded chunks, so that
 * --help does not load the SDK, and the action as one file that is committed.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { mergeChunks } from './merge-chunks.mjs';
import { reportPageForBundle } from './report-page.mjs';

const outdir = process.argv[2] ?? 'dist';

/** The sources of the report's page, which is text in both bundles and has its own licences. */
const ofThePage = new Set();

const common = {
  outdir,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  loader: { '.md': 'text', '.yml': 'text' },
  plugins: [reportPageForBundle(ofThePage), plainAssert()],
  // Halves the text to read at every start. Names stay as they are, so that stack traces remain readable.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  // Clients of 60 MB and more that only some need: users of Claude through another cloud install its client.
  external: ['@anthropic-ai/bedrock-sdk', '@anthropic-ai/vertex-sdk', 'google-auth-library'],
  logLevel: 'warning',
};

// CommonJS dependencies load Node's modules with it.
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

// The action's ripgrep is kept: scripts/ripgrep.mjs puts it there.
for (const name of outdir === 'dist' ? builtBefore() : []) rmSync(`${outdir}/${name}`);

const [cli, action, documents] = await Promise.all([
  build({
    ...common,
    entryPoints: {
      cli: 'src/cli.ts',
      library: 'src/library.ts',
      // What cli.js starts, to be carried out in a process that goes on.
      'command-line': 'src/commands/command-line.ts',
    },
    splitting: true,
    metafile: true,
    define: { RELEASE: JSON.stringify(process.env.PATCHSMITH_RELEASE === 'true' ? release() : null) },
    // Ships its binary in platform packages, which cannot be bundled.
    external: [...common.external, '@vscode/ripgrep'],
  }),
  build({
    ...common,
    entryPoints: { 'action-program': 'src/action/run-action.ts' },
    banner: { js: REQUIRE },
    legalComments: 'none',
    metafile: true,
    alias: { '@vscode/ripgrep': './src/adapters/workspace/search/bundled-ripgrep.ts' },
  }),
  // A separate program that both of them start.
  build({
    ...common,
    entryPoints: { documents: 'src/adapters/documents/program.ts' },
    legalComments: 'none',
    metafile: true,
    write: false,
  }),
]);
await mergeChunks(outdir, 'cli.js', { ...common, external: [...common.external, '@vscode/ripgrep'] });
for (const name of readdirSync(outdir).filter((file) => /^(?!action).*\.js$/.test(file))) {
  const text = readFileSync(join(outdir, name), 'utf8');
  if (/\brequire\b/.test(text)) writeFileSync(join(outdir, name), withRequire(text));
}
for (const { path, contents } of documents.outputFiles) writeFileSync(path, contents);
// The post step has its own file: if the main step was killed at once, nothing else could tell the two apart.
for (const [file, step] of Object.entries({ action: 'main', 'action-post': 'post' }))
  writeFileSync(
    `${outdir}/${file}.js`,
    `import { runAction } from './action-program.js';\nprocess.exit(await runAction(process, '${step}', true));\n`,
  );

for (const [name, { metafile }] of Object.entries({ cli, action }))
  writeFileSync(
    `${outdir}/${name}.licenses.txt`,
    licensesOf([...Object.keys(metafile.inputs), ...Object.keys(documents.metafile.inputs), ...ofThePage]),
  );

/** What workflows that `init` writes call: repository, commit and tag. */
function release() {
  const { repository, version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const commit = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim();
  return [/github\.com\/(.+)\.git$/.exec(repository.url)?.[1], commit, `v${version}`];
}

/** Replaces `assert` in packages by one with fixed messages. */
function plainAssert() {
  const path = new URL('plain-assert.cjs', import.meta.url).pathname;
  return {
    name: 'plain-assert',
    setup: ({ onResolve }) =>
      onResolve({ filter: /^(?:node:)?assert$/ }, ({ importer }) =>
        importer === path ? undefined : { path },
      ),
  };
}

/** The licences of all packages that are part of a bundle. */
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

/** Keeps the shebang as the first line. */
function withRequire(text) {
  const end = text.startsWith('#!') ? text.indexOf('\n') + 1 : 0;
  return `${text.slice(0, end)}${REQUIRE}\n${text.slice(end)}`;
}

function builtBefore() {
  try {
    return readdirSync(outdir).filter((name) => /\.(js|txt)$/.test(name));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
}
