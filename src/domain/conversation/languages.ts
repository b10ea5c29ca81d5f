/** Which languages a repository is written in, by the names of its files. */

/** A language and its number of files. */
export interface Language {
  readonly name: string;
  readonly files: number;
}

/** How many languages are named. */
const MAX_LANGUAGES = 5;

const EXTENSIONS: Readonly<Record<string, string>> = {
  TypeScript: 'ts tsx mts cts',
  JavaScript: 'js jsx mjs cjs',
  Vue: 'vue',
  Svelte: 'svelte',
  Python: 'py pyi',
  Go: 'go',
  Rust: 'rs',
  Java: 'java',
  Kotlin: 'kt kts',
  Scala: 'scala',
  Groovy: 'groovy',
  Ruby: 'rb rake erb',
  PHP: 'php',
  'C#': 'cs',
  'F#': 'fs',
  'Visual Basic': 'vb',
  C: 'c h',
  'C++': 'cc cpp cxx hpp',
  Swift: 'swift',
  Dart: 'dart',
  Elixir: 'ex exs',
  Haskell: 'hs',
  Lua: 'lua',
  Perl: 'pl pm',
  R: 'r R',
  SQL: 'sql',
  Shell: 'sh bash',
  Zig: 'zig',
};

const LANGUAGE_OF = new Map(
  Object.entries(EXTENSIONS).flatMap(([name, ends]) => ends.split(' ').map((end) => [end, name] as const)),
);

/** Those with most files, largest first. */
export function languagesOf(files: readonly string[]): Language[] {
  const counts = new Map<string, number>();
  for (const path of files) {
    const dot = path.lastIndexOf('.');
    const name = dot === -1 ? undefined : LANGUAGE_OF.get(path.slice(dot + 1));
    if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts]
    .map(([name, count]) => ({ name, files: count }))
    .sort((one, other) => other.files - one.files || (one.name < other.name ? -1 : 1))
    .slice(0, MAX_LANGUAGES);
}
