import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PROVIDERS } from '../src/adapters/providers/registry.ts';
import { OutcomeName } from '../src/domain/run/exit-code.ts';

const ARCHITECTURE = readFileSync('docs/architecture.md', 'utf8');

/** What the files of a place in `src/` may import from `src/`, itself included, as the page says. Packages are for the edges. */
const MAY_IMPORT = new Map(
  [...section('Who may import whom').matchAll(/^\| `([\w./]+)` \| (.+) \|$/gm)].map(
    ([, place = '', others = '']) => [
      place,
      [place, ...[...others.matchAll(/`([^`]+)`/g)].map(([, other = '']) => other)],
    ],
  ),
);

/** The rooms of an adapter and the rooms beside them that they may import. What lies outside of rooms is for all of them. */
const INNER_ARROWS: Record<string, Record<string, string[]>> = {
  'adapters/workspace': {
    unwalked: [],
    tree: ['unwalked'],
    restore: ['kept'],
    kept: ['tree'],
    search: [],
  },
  'adapters/sandboxes': {
    visible: [],
    command: [],
    caches: ['visible'],
    bubblewrap: ['visible', 'command', 'caches'],
  },
};

/** A room holds what one glance takes in. */
const MOST_FILES = 16;

interface Import {
  from: string;
  /** The path of a file of the repository, `npm:` with a package, or `node:` with a module of Node. */
  to: string;
  typeOnly: boolean;
}

/** What a file names: `import … from ''`, `export … from ''`, `import ''` and `import('')`. */
const NAMED_MODULE = /(?:^(?:import|export) (type )?(?:[^;'"]*? from )?|\bimport\(\s*)'([^']+)'/gm;

function importsOf(from: string): Import[] {
  return [...readFileSync(from, 'utf8').matchAll(NAMED_MODULE)].map(([, type, name = '']) => ({
    from,
    to: name.startsWith('.') ? join(dirname(from), name) : name.replace(/^(?!node:)/, 'npm:'),
    typeOnly: type !== undefined,
  }));
}

/** The imports that a rule speaks of, and which of them it allows. */
interface Rule {
  name: string;
  from: RegExp;
  to: RegExp;
  allowed: (imported: Import) => boolean;
}

/** Where a file stands: its folder in `folder`. */
const roomIn = (folder: string, path: string) => path.slice(folder.length).split('/')[0];

/** Rooms of a folder that know nothing of each other. */
function strangers(name: string, folder: string): Rule {
  const rooms = new RegExp(`^${folder}[^/]+/`);
  return {
    name,
    from: rooms,
    to: rooms,
    allowed: ({ from, to }) => roomIn(folder, from) === roomIn(folder, to),
  };
}

const RULES: Rule[] = [
  ...[...MAY_IMPORT].map(([place, places]) => ({
    name: `imports of ${place}`,
    from: new RegExp(`^src/${place}`),
    to: /^src\//,
    allowed: ({ to }: Import) => places.some((allowed) => to.startsWith(`src/${allowed}`)),
  })),
  {
    name: 'values and pure functions need no packages',
    from: /^src\/(?:domain|texts|tools|agent|ports|prompts)/,
    to: /^(?!src\/|prompts\/)/,
    allowed: ({ to }) => to === 'npm:zod',
  },
  strangers('adapters do not know each other', 'src/adapters/'),
  {
    name: 'only the plan is read with the parts of settings',
    from: /^src\/adapters\/(?!plan\/)/,
    to: /^src\/config\//,
    allowed: () => false,
  },
  strangers('commands do not know each other', 'src/commands/'),
  ...Object.entries(INNER_ARROWS).flatMap(([adapter, rooms]) =>
    Object.entries(rooms).map(([room, others]) => ({
      name: `imports of ${adapter}/${room}`,
      from: new RegExp(`^src/${adapter}/${room}/`),
      to: new RegExp(`^src/${adapter}/[^/]+/`),
      // A type is no arrow: it says what is asked for, not who gives it.
      allowed: ({ to, typeOnly }: Import) =>
        typeOnly || [room, ...others].includes(roomIn(`src/${adapter}/`, to) ?? ''),
    })),
  ),
  {
    name: 'the composition root uses no packages',
    from: /^src\/engine\//,
    to: /^npm:/,
    allowed: ({ to }) => to === 'npm:zod',
  },
];

/** The files of each circle that imports go in, types included. */
function circles(imports: ReadonlyMap<string, readonly Import[]>): string[] {
  const done = new Set<string>();
  const found: string[] = [];
  const walk = (file: string, way: readonly string[]) => {
    if (way.includes(file)) found.push([...way.slice(way.indexOf(file)), file].join(' → '));
    if (way.includes(file) || done.has(file)) return;
    for (const { to } of imports.get(file) ?? []) walk(to, [...way, file]);
    done.add(file);
  };
  for (const file of imports.keys()) walk(file, []);
  return found;
}

/** An import or a hand-on that is more than types, with where it comes from. */
const VALUE_FROM = /^(?:import|export) (?!type )(?:[^;]*? from )?'(\.[^']+)';/gm;

/** The files that are loaded with these, in the repository. */
function valuesReachedFrom(paths: readonly string[], reached = new Set<string>()): Set<string> {
  for (const path of paths) {
    if (reached.has(path)) continue;
    reached.add(path);
    if (!path.startsWith('tests/')) continue;
    const from = [...readFileSync(path, 'utf8').matchAll(VALUE_FROM)];
    valuesReachedFrom(
      from.map(([, name = '']) => join(dirname(path), name)),
      reached,
    );
  }
  return reached;
}

const EXPORTED_NAME =
  /^export (?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|enum|let) (\w+)/gm;

/** A type, class or schema that a file keeps to itself. */
const OWN_TYPE = /^(?:(?:abstract )?(?:class|interface|type|enum) |const (?=[A-Z][a-z]))(\w+)/gm;

/** A declaration at the top of a file, and whether a docstring ends right before it. */
const DECLARATION =
  /(\*\/\n)?^(export )?(?:async )?(?:abstract )?(?:function\*?|const|class|interface|type|enum|let) (\w+)/gm;

const OUTCOME = `(?:${OutcomeName.options.join('|')})`;

/** `'blocked', 5` · `blocked: 5` · `5 blocked` · `'blocked', exitCode: 5` · `'SIGINT' ? 130` */
const CODE_BESIDE_NAME = new RegExp(
  `\\b${OUTCOME}'?[,:]\\s*(?:exitCode:\\s*)?\\d+|\\b\\d+,?\\s*'?${OUTCOME}\\b|'SIG(?:INT|TERM)' \\?\\s*\\d+`,
  'g',
);

/** In what people read, a path of the repository that begins in one of its folders. */
const NAMED_PATH =
  /(?<![\w./-])(?:src|page|tests|scripts|bench|prompts|fixtures|docs|site|\.github|\.devcontainer)\/[\w./-]*[\w/](?![\w*{<])/g;

/** In what people read, a source file by the end of its path. */
const NAMED_SOURCE = /`([\w./-]+\.ts)`/g;

/** Paths of projects that examples work on, and what is made on demand. */
const NOT_OURS =
  /^src\/(?:total\.js|greeting\.ts|parser|vendor)$|^site\/\.vitepress\/dist$|^\.github\/patchsmith\/issue\.md$/;

/** In a drawing: a file, and what it has. */
const DRAWN = /(src\/[\w./-]+\.ts) +(\w+)(?=[:(]|$)/gm;

/** In a page: what there is, and its file. */
const SAID = /`(\w+)(?:\.\w+)?` \(`(src\/[\w./-]+\.ts)`\)/g;

/** The text below a heading of the page. */
function section(heading: string): string {
  return ARCHITECTURE.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
}

function sourceFiles(): string[] {
  return filesBelow('src', '.ts').filter((name) => !name.endsWith('.d.ts'));
}

function filesBelow(folder: string, end: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .map((name) => `${folder}/${name}`);
}

describe('the architecture', () => {
  test('every import follows the map, and nothing goes in circles', () => {
    const imports = new Map(filesBelow('src', '.ts').map((file) => [file, importsOf(file)]));
    const all = [...imports.values()].flat();
    expect(all.length).toBeGreaterThan(1000);
    const wrong = all.flatMap((one) =>
      RULES.filter(({ from, to, allowed }) => from.test(one.from) && to.test(one.to) && !allowed(one)).map(
        ({ name }) => `${name}: ${one.from} → ${one.to}`,
      ),
    );
    expect([...wrong, ...circles(imports)]).toEqual([]);
  });

  test('a folder has at most 16 files', () => {
    const sizes = new Map<string, number>();
    for (const file of ['src', 'page', 'tests', 'scripts', 'bench'].flatMap((folder) =>
      filesBelow(folder, '.ts'),
    ))
      sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
    expect([...sizes].filter(([, size]) => size > MOST_FILES)).toEqual([]);
  });

  test('the page of a report takes nothing from the sources but values and pure functions', () => {
    const taken = filesBelow('page', '.ts').flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/from '[./]*\/(src\/[^']+)'/g)].map(([, path = '']) => path),
    );
    expect(taken.length).toBeGreaterThan(5);
    expect(taken.filter((path) => !path.startsWith('src/domain/'))).toEqual([]);
  });

  test('no test starts the built command where nothing builds it', () => {
    const unbuilt = filesBelow('tests', '.test.ts').filter((file) => !/^tests\/(?:e2e|attacks)\//.test(file));
    const offenders = unbuilt.filter((file) =>
      /\bscriptedRun\b|runs\/cli\.ts'|jobs\/action-runner\.ts'/.test(readFileSync(file, 'utf8')),
    );
    expect(offenders).toEqual([]);
  });

  test('what stands where users stand reaches what is built, and never a value of the sources', () => {
    const entries = filesBelow('tests', '.ts').filter((path) => /^tests\/(?:e2e|attacks)\//.test(path));
    expect(entries.length).toBeGreaterThan(100);
    expect([...valuesReachedFrom(entries)].filter((path) => !path.startsWith('tests/'))).toEqual([]);
  });

  test('no exported name has two meanings', () => {
    const homes = new Map<string, Set<string>>();
    for (const file of sourceFiles())
      for (const [, name = ''] of readFileSync(file, 'utf8').matchAll(EXPORTED_NAME))
        homes.set(name, (homes.get(name) ?? new Set()).add(file));
    const doubled = [...homes].filter(([, files]) => files.size > 1);
    expect(doubled.map(([name, files]) => `${name}: ${[...files].join(', ')}`)).toEqual([]);
  });

  test('no private type has the name of an exported one', () => {
    const exported = new Map(
      sourceFiles().flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(EXPORTED_NAME)].map(([, name = '']) => [name, file] as const),
      ),
    );
    const taken = sourceFiles().flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(OWN_TYPE)]
        .filter(([, name = '']) => (exported.get(name) ?? file) !== file)
        .map(([, name = '']) => `${file}: ${name}, as in ${exported.get(name)}`),
    );
    expect(taken).toEqual([]);
  });

  test('no file hands on what another exports, except the library', () => {
    const handing = sourceFiles().filter((file) =>
      /^export (?:type )?(?:\{[^}]*\}|\*(?: as \w+)?) from /m.test(readFileSync(file, 'utf8')),
    );
    expect(handing).toEqual(['src/library.ts']);
  });

  test('every exported name has its docstring', () => {
    const scripts = ['.ts', '.mts', '.mjs'].flatMap((end) => filesBelow('scripts', end));
    const files = [...sourceFiles(), ...filesBelow('page', '.ts'), ...scripts];
    const bare = files.flatMap((file) => {
      const declared = [...readFileSync(file, 'utf8').matchAll(DECLARATION)];
      // The type that is inferred from a schema shares its name, and its docstring.
      const documented = new Set(declared.filter(([, doc]) => doc !== undefined).map(([, , , name]) => name));
      return declared
        .filter(([, , exported, name]) => exported !== undefined && !documented.has(name))
        .map(([, , , name]) => `${file}: ${name}`);
    });
    expect(bare).toEqual([]);
  });

  test('an exit code stands beside the name of its outcome in one file', () => {
    const doubled = sourceFiles()
      .filter((file) => file !== 'src/domain/run/exit-code.ts')
      .flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        return [...text.matchAll(CODE_BESIDE_NAME)].map(([found]) => `${file}: ${found}`);
      });
    expect(doubled).toEqual([]);
  });

  test('a provider is named in its own file and its entry, and nowhere else', () => {
    // "replay" is a word of other things as well.
    const names = Object.keys(PROVIDERS).filter((name) => name !== 'replay');
    expect(names.length).toBeGreaterThan(4);
    const offenders = names.flatMap((name) => {
      const own = new Set(['registry', name].map((file) => `src/adapters/providers/${file}.ts`));
      const quoted = new RegExp(`['"]${name}['"]`);
      return sourceFiles().filter((file) => !own.has(file) && quoted.test(readFileSync(file, 'utf8')));
    });
    expect(offenders).toEqual([]);
  });

  test('every path of the sources that a document names is there', () => {
    const pages = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md', 'SECURITY.md', ...filesBelow('docs', '.md')];
    const sources = ['src', 'page', 'tests', 'scripts', 'bench'].flatMap((folder) =>
      filesBelow(folder, '.ts'),
    );
    const lost = pages.flatMap((page) => {
      const text = readFileSync(page, 'utf8');
      const paths = [...text.matchAll(NAMED_PATH)].map(([path]) => path).filter((path) => !existsSync(path));
      const names = [...text.matchAll(NAMED_SOURCE)]
        .map(([, name = '']) => name)
        .filter((name) => !existsSync(name) && !sources.some((source) => source.endsWith(`/${name}`)));
      return [...paths, ...names].filter((path) => !NOT_OURS.test(path)).map((path) => `${page}: ${path}`);
    });
    expect(lost).toEqual([]);
  });

  test('whatever the page of the architecture names with its file is exported there', () => {
    const drawn = [...section('From argv to a patch').matchAll(DRAWN)].map(([, file = '', name = '']) => ({
      file,
      name,
    }));
    const said = [...ARCHITECTURE.matchAll(SAID)].map(([, name = '', file = '']) => ({ file, name }));
    expect(drawn.length).toBeGreaterThan(15);
    expect(said.length).toBeGreaterThan(10);
    const lost = [...drawn, ...said].filter(
      ({ file, name }) =>
        ![...readFileSync(file, 'utf8').matchAll(EXPORTED_NAME)].some(([, exported]) => exported === name),
    );
    expect(lost).toEqual([]);
  });

  test('the page says of every place in the sources what it may import', () => {
    const places = readdirSync('src', { withFileTypes: true }).map(
      (entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`,
    );
    const entries = ['cli.ts', 'library.ts', 'action/'];
    const unsaid = places.filter(
      (place) => !MAY_IMPORT.has(place) && !entries.includes(place) && !place.endsWith('.d.ts'),
    );
    expect(unsaid).toEqual([]);
  });

  test('only the entry files read argv and the environment, and only they end the process', () => {
    const offenders = sourceFiles().filter(
      (file) =>
        !['src/cli.ts', 'src/library.ts'].includes(file) &&
        /process\.(argv|env|exit\b|exitCode)/.test(readFileSync(file, 'utf8')),
    );
    expect(offenders).toEqual([]);
  });

  test('only one file runs git, except for the demo, which creates its own repository', () => {
    const runners = sourceFiles()
      .filter((file) => /\b(?:execa|spawn|execFile)\(\s*'git'/.test(readFileSync(file, 'utf8')))
      .filter((file) => file !== 'src/commands/demo/materialise.ts');
    expect(runners).toEqual([]);
  });

  test('no time limit is one that garbage collection may remove', () => {
    const weak = sourceFiles().filter((file) => readFileSync(file, 'utf8').includes('AbortSignal.timeout('));
    expect(weak).toEqual([]);
  });

  test('every source file says what it is for before anything else', () => {
    const silent = sourceFiles().filter((file) => !/^(#!.*\n)?\/\*\*/.test(readFileSync(file, 'utf8')));
    expect(silent).toEqual([]);
  });
});
