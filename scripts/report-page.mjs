/**
 * The template of reports: page/report.html with its script and style inlined, and a content security policy with their
 * hashes, so that a browser runs nothing else and sends nothing.
 */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const folder = fileURLToPath(new URL('../page/', import.meta.url));

/** An import that ends like this gives the whole page as text. */
const PAGE = /\/page\/report\.html$/;

/** The page with placeholders for the data of a run, and the names of its sources. */
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
  // This means the same in a string or a regular expression, but neither ends the element nor opens a comment.
  const script = textOf('.js').replaceAll(/<(?=\/script|!--)/gi, '\\x3c');
  const style = textOf('.css');
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    // No string becomes markup or code, whatever the script does.
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

/** A plugin for esbuild. `sources` receives the sources of the page. */
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

/** A plugin for the test runner, and for scripts that load the sources directly. */
export async function reportPageModule(path) {
  return PAGE.test(path) ? `export default ${JSON.stringify((await reportPage()).text)};` : null;
}
