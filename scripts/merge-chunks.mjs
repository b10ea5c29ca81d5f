/**
 * Merges the many chunks of a bundle into few files. The bundler creates a chunk for every set of lazily loaded modules
 * that share code. That is a hundred for one command, and Node takes a third of a millisecond for each. Chunks that the
 * same commands load at startup become one file, so that no command loads more than before.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const STATIC = /(?:\bfrom|\bimport)"\.\/([^"]+\.js)"/g;
const LAZY = /\bimport\("\.\/([^"]+\.js)"\)/g;
/** Chunks with fewer characters do not get their own file. */
const MAX_SMALL = 2_800;
/** Chunks with more characters are libraries that few runs need, and stay alone unless every start loads them. */
const MAX_MERGED = 300_000;
const CHUNK = /"\.\/(chunk-\w+\.js)"/g;
/** The imports of a file from a chunk. */
const TAKEN = /\bimport(?:\{([^}]*)\}from)?"\.\/(chunk-\w+\.js)"/g;
/** The exports of a chunk, whose internal names may differ. */
const OFFERED = /\bexport\{([^}]*)\}/g;

/**
 * `entry` is the file in `folder` that is started; `options` are those of esbuild for the bundle, with minified
 * whitespace.
 */
export async function mergeChunks(folder, entry, options) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const parts = partsOf(files, entry);
  /** The file that a chunk was merged into. Its names get a suffix there, since other chunks may use the same names. */
  const places = new Map(
    parts.flatMap((chunks, at) =>
      chunks.map((chunk, nth) => [chunk, { file: `part-${at}.js`, suffix: `$${nth}` }]),
    ),
  );
  const pointed = (text) =>
    text.replace(TAKEN, (whole, taken, chunk) => {
      const place = places.get(chunk);
      if (place === undefined) return whole;
      if (taken === undefined) return `import"./${place.file}"`;
      return `import{${renamed(taken, place.suffix)}}from"./${place.file}"`;
    });
  for (const [at, chunks] of parts.entries()) {
    const contents = chunks.map((chunk) => {
      const offered = [...files.get(chunk).matchAll(OFFERED)].map(([, all]) =>
        all.split(',').map(nameOutside),
      );
      return `export{${offered.flat().map((name) => `${name} as ${name}${places.get(chunk).suffix}`)}}from"./${chunk}";`;
    });
    const { outputFiles } = await build({
      ...options,
      outdir: undefined,
      write: false,
      // They name the file with the licences, which is kept.
      legalComments: 'inline',
      stdin: { contents: contents.join(''), resolveDir: resolve(folder) },
      external: [
        ...(options.external ?? []),
        ...names.filter((name) => !chunks.includes(name)).map((name) => `./${name}`),
      ],
    });
    files.set(`part-${at}.js`, outputFiles[0].text);
  }
  for (const [name, text] of files) {
    if (places.has(name)) {
      rmSync(join(folder, name));
      continue;
    }
    const now = pointed(text);
    const lost = namesIn(now, CHUNK).find((chunk) => places.has(chunk));
    if (lost !== undefined) throw new Error(`${name} takes from ${lost} in a way that is not known here.`);
    writeFileSync(join(folder, name), now);
  }
}

/**
 * Groups of chunks to merge: those that are loaded at startup, and those that the same lazy modules load. Small ones
 * that several of these share go into the first group.
 */
function partsOf(files, entry) {
  const atStart = loadedBy(files, entry);
  const lazyIn = (names) => new Set(names.flatMap((name) => namesIn(files.get(name), LAZY)));
  const loadersAmong = (modules) => {
    const loaders = new Map();
    for (const module of modules)
      for (const name of loadedBy(files, module))
        if (!atStart.has(name)) loaders.set(name, [...(loaders.get(name) ?? []), module]);
    return loaders;
  };
  const loaders = loadersAmong(lazyIn([...atStart]));
  const all = loadersAmong(lazyIn([...files.keys()]));
  const isSmall = (name) => files.get(name).length <= MAX_SMALL && all.get(name).length > 1;
  for (let size = -1; size !== atStart.size; ) {
    size = atStart.size;
    for (const name of loaders.keys())
      if (isSmall(name) && namesIn(files.get(name), STATIC).every((one) => atStart.has(one)))
        atStart.add(name);
  }
  const parts = new Map();
  for (const name of new Set([...atStart, ...loaders.keys()])) {
    if (!atStart.has(name) && files.get(name).length > MAX_MERGED) continue;
    const signature = atStart.has(name) ? entry : loaders.get(name).join(' ');
    if (name.startsWith('chunk-')) parts.set(signature, [...(parts.get(signature) ?? []), name]);
  }
  return [...parts.values()].filter((chunks) => chunks.length > 1);
}

/** The file and everything that it imports statically. */
function loadedBy(files, name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const one of namesIn(files.get(name), STATIC)) loadedBy(files, one, found);
  return found;
}

function namesIn(text, pattern) {
  return [...text.matchAll(pattern)].map(([, name]) => name);
}

/** `a` and `a as b`, with the suffix appended to the chunk's own name. */
function renamed(taken, suffix) {
  return taken
    .split(',')
    .map((one) => {
      const [outside, inside = outside] = one.split(' as ');
      return `${outside}${suffix} as ${inside}`;
    })
    .join(',');
}

function nameOutside(offered) {
  return offered.split(' as ').at(-1);
}
