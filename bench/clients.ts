/** The programs that are compared, built into one folder. */

import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

export const CLIENTS = ['product', 'floor', 'bundled'] as const;
/** `floor` is the plain client with its library as it is installed; `bundled` is the same in one file. */
export type ClientName = (typeof CLIENTS)[number];

export interface Programs {
  /** Command lines to which the task is added. */
  readonly clients: Readonly<Record<ClientName, readonly string[]>>;
  readonly apiServer: string;
  readonly snapshot: string;
  readonly fence: string;
}

const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist-bench');
/** CommonJS libraries in a bundle load node's modules with it. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

export async function buildPrograms(): Promise<Programs> {
  mkdirSync(OUT, { recursive: true });
  cpSync(join(ROOT, 'dist/launcher'), join(OUT, 'launcher'), { recursive: true });
  const common = { platform: 'node', target: 'node20.19', logLevel: 'warning', bundle: true } as const;
  const unbundled = { ...common, format: 'esm', packages: 'external', loader: { '.md': 'text' } } as const;
  const source = (name: string) => join(ROOT, 'bench', `${name}.ts`);
  const floor = join(OUT, 'floor.mjs');
  const bundled = join(OUT, 'floor-bundled.mjs');
  const usage = join(OUT, 'usage.cjs');
  const apiServer = join(OUT, 'api-server.mjs');
  const snapshot = join(OUT, 'snapshot.mjs');
  const fence = join(OUT, 'fence.mjs');
  await Promise.all([
    build({ ...unbundled, entryPoints: [source('floor')], outfile: floor }),
    build({
      ...common,
      format: 'esm',
      entryPoints: [source('floor')],
      outfile: bundled,
      banner: { js: REQUIRE },
    }),
    build({ ...common, format: 'cjs', entryPoints: [source('usage')], outfile: usage }),
    build({ ...unbundled, entryPoints: [source('api-server')], outfile: apiServer }),
    build({ ...unbundled, entryPoints: [source('snapshot')], outfile: snapshot }),
    build({ ...unbundled, entryPoints: [source('fence')], outfile: fence }),
  ]);
  const node = [process.execPath, '--require', usage];
  return {
    clients: {
      product: [
        ...node,
        join(ROOT, 'dist', 'cli.js'),
        ...['run', '--sandbox', 'required', '--max-iterations', '1000', '--message'],
      ],
      floor: [...node, floor],
      bundled: [...node, bundled],
    },
    apiServer,
    snapshot,
    fence,
  };
}
