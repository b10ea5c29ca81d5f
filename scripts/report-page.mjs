/**
 * The page that a report is written into: page/report.html with its script and style in it, and a policy that names their
 * hashes, so that a browser runs and applies nothing else, and sends nothing.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../page/', import.meta.url));

/** Any path that ends like this stands for the whole page as text. */
const PAGE = /\/page\/report\.html$/;

/** The page with marks in place of what belongs to a run, and the names of the sources in it. */
async function reportPage() {
  const { outputFiles, metafile } = await build({
    entryPoints: [`${folder}main.ts`, `${folder}style.css`],
    outdir: 'unwritten',
    write: false,
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['chrome115', 'firefox115', 'safari16.4'],
    charset: 'ascii',
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const textOf = (end) => outputFiles.find(({ path }) => path.endsWith(end))?.text.trim() ?? '';
  // In a string or a pattern it means the same, and neither ends the element nor opens a comment in it.
  const script = textOf('.js').replaceAll(/<(?=\/script|!--)/gi, '\\x3c');
  const style = textOf('.css');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    // No text becomes markup or code, whatever the script does with it.
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
  const parts = { policy, script, style };
  const text = readFileSync(`${folder}report.html`, 'utf8')
    .split(/\{\{(policy|script|style)\}\}/)
    .map((piece, at) => (at % 2 === 0 ? piece : parts[piece]))
    .join('');
  return { text, sources: Object.keys(metafile.inputs) };
}

function hashOf(text) {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** For esbuild. `sources` receives what the page was made of. */
export function reportPageForBundle(sources = new Set()) {
  const page = reportPage();
  return {
    name: 'report-page',
    setup({ onLoad }) {
      onLoad({ filter: PAGE }, async () => {
        const { text, sources: own } = await page;
        for (const source of own) sources.add(source);
        return { contents: text, loader: 'text' };
      });
    },
  };
}

/** For the test runner, and for scripts that load the sources as they are. */
export async function reportPageModule(path) {
  return PAGE.test(path) ? `export default ${JSON.stringify((await reportPage()).text)};` : null;
}
