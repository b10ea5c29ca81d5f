/**
 * Makes few files of the many chunks of a bundle. There is a chunk for every set of lazily loaded modules that share code, which
 * makes a hundred for one command, and node takes a third of a millisecond for each. Those that the same commands load when they
 * start become one file, so that no command loads more than it did.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const STATIC = /(?:\bfrom|\bimport)"\.\/([^"]+\.js)"/g;
const LAZY = /\bimport\("\.\/([^"]+\.js)"\)/g;
/** Characters of a chunk that is not worth a file of its own. */
const MAX_SMALL = 2_500;
const CHUNK = /"\.\/(chunk-\w+\.js)"/g;
/** What a file takes from a chunk. */
const TAKEN = /\bimport(?:\{([^}]*)\}from)?"\.\/(chunk-\w+\.js)"/g;
/** What a chunk offers. Its own names may be others. */
const OFFERED = /\bexport\{([^}]*)\}/g;

/** `entry` is the file in `folder` that is started; `options` are those of esbuild for the bundle, whitespace minified. */
export async function mergeChunks(folder, entry, options) {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  const files = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  const parts = partsOf(files, entry);
  /** Where a chunk has gone; its names there end with a suffix, since other chunks may have the same. */
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
      // They name the file with the licences, which stays.
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
 * The chunks that go together: those that the start loads, and of the others those that the same lazy modules of it load. Small
 * ones that several of these share go with the start.
 */
function partsOf(files, entry) {
  const atStart = loadedBy(files, entry);
  const commands = new Set([...atStart].flatMap((name) => namesIn(files.get(name), LAZY)));
  const loaders = new Map();
  for (const command of commands) {
    for (const name of loadedBy(files, command))
      if (!atStart.has(name)) loaders.set(name, [...(loaders.get(name) ?? []), command]);
  }
  const isSmall = (name) => files.get(name).length <= MAX_SMALL && loaders.get(name).length > 1;
  for (let size = -1; size !== atStart.size; ) {
    size = atStart.size;
    for (const name of loaders.keys())
      if (isSmall(name) && namesIn(files.get(name), STATIC).every((one) => atStart.has(one)))
        atStart.add(name);
  }
  const parts = new Map();
  for (const name of new Set([...atStart, ...loaders.keys()])) {
    const signature = atStart.has(name) ? entry : loaders.get(name).join(' ');
    if (name.startsWith('chunk-')) parts.set(signature, [...(parts.get(signature) ?? []), name]);
  }
  return [...parts.values()].filter((chunks) => chunks.length > 1);
}

/** The file and everything that it loads before it runs. */
function loadedBy(files, name, found = new Set()) {
  if (found.has(name)) return found;
  found.add(name);
  for (const one of namesIn(files.get(name), STATIC)) loadedBy(files, one, found);
  return found;
}

function namesIn(text, pattern) {
  return [...text.matchAll(pattern)].map(([, name]) => name);
}

/** `a` and `a as b`: with the suffix at the name that the chunk had given it. */
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
