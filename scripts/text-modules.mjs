/** Imports of Markdown and YAML as text, and of the page of reports, for scripts that load the sources without a bundler: `tsx --import THIS`. */

import { readFileSync } from 'node:fs';
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { reportPageModule } from './report-page.mjs';

// The hooks run in a separate thread, which loads this file again.
if (isMainThread) register(import.meta.url);

/**
 * The hook that Node calls for each import: a text becomes a module that exports it, everything else is passed to
 * `next`.
 */
export async function load(url, context, next) {
  const { pathname } = new URL(url);
  const page = await reportPageModule(pathname);
  if (page !== null) return { format: 'module', shortCircuit: true, source: page };
  if (!/\.(?:md|yml)$/.test(pathname)) return next(url, context);
  const text = readFileSync(new URL(pathname, 'file:'), 'utf8');
  return { format: 'module', shortCircuit: true, source: `export default ${JSON.stringify(text)};` };
}
