/** What README and the pages of docs/ show of the command line: its commands, flags, variables and settings. */

import { readdirSync, readFileSync } from 'node:fs';

/** A command line as a page shows it. */
export interface Shown {
  /** The page and the line as it is there. */
  readonly at: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

/** README and every page of docs/, by their names. */
export const PAGES: ReadonlyMap<string, string> = new Map(
  ['README.md', ...readdirSync('docs').flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : []))].map(
    (page) => [page, readFileSync(page, 'utf8')],
  ),
);

const FENCED = /^```(\w*)\n([\s\S]*?)^```$/gm;

/** The fenced blocks of a page in these languages. */
export function blocksOf(page: string, ...languages: string[]): string[] {
  return [...page.matchAll(FENCED)].flatMap(([, language = '', text = '']) =>
    languages.includes(language) ? [text] : [],
  );
}

/** The inline code of a page. */
export function inlineCode(page: string): string[] {
  return [...page.replace(FENCED, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) =>
    code.replace(/\s*\n\s*/g, ' ').replaceAll('\\|', '|'),
  );
}

const WORD = /(?:[^\s"'|&;<>()]|"[^"]*"|'[^']*'|<[\w ]+>)+|[|&;<>()]+/g;
/** It is a value or a package there. */
const NOT_ITS_PROGRAM = /^(?:--[\w-]+|install)$/;
const PROGRAM = /^patchsmith$|(?:^|\/)cli\.js$/;

/** The command lines in a text of a shell. */
export function commandsIn(text: string, at: string): Shown[] {
  const whole = text.replace(/\\\n\s*/g, ' ').replace(/(^|\s)#.*$/gm, '');
  return whole.split('\n').flatMap((line) => {
    const words = line.match(WORD) ?? [];
    return words.flatMap((word, start) => {
      if (!PROGRAM.test(word) || NOT_ITS_PROGRAM.test(words[start - 1] ?? '')) return [];
      const end = words.findIndex((other, at) => at > start && /^[|&;<>()]+$/.test(other));
      const before = words.slice(0, start).filter((other) => /^[A-Z_]+=/.test(other));
      return [
        {
          at: `${at}: ${line.trim()}`,
          env: Object.fromEntries(before.map((one) => one.split('='))),
          args: words.slice(start + 1, end === -1 ? undefined : end).map(unquoted),
        },
      ];
    });
  });
}

function unquoted(word: string): string {
  return word.replace(/"([^"]*)"|'([^']*)'/g, (_, one, other) => one ?? other);
}

/** Every command line that the pages show, once. */
export function shownCommands(): Shown[] {
  const shown = [...PAGES].flatMap(([page, text]) => [
    ...blocksOf(text, 'sh', 'bash', 'console', '').flatMap((block) => commandsIn(block, page)),
    ...[...text.matchAll(/^ {4}((?:[A-Z_]+=\S+ )*patchsmith (?:.*\\\n)*.*)$/gm)].flatMap(([, line = '']) =>
      commandsIn(line, page),
    ),
    ...inlineCode(text)
      .filter((code) => /(?:^|[ (])patchsmith [a-z-]|cli\.js /.test(code))
      .flatMap((code) => commandsIn(code, page)),
  ]);
  return [...new Map(shown.map((one) => [JSON.stringify([one.env, one.args]), one])).values()];
}

/** A row of a table of docs/settings.md. */
export interface SettingRow {
  readonly flag: string;
  /** What stands for the value; empty for a switch. */
  readonly value: string;
  readonly variable: string;
  readonly inProjectFile: string;
}

/** Every setting that docs/settings.md lists. */
export function settingRows(): SettingRow[] {
  const rows = (PAGES.get('docs/settings.md') ?? '').match(/^\| `--.*$/gm) ?? [];
  return rows.map((row) => {
    const [, name = '', , inProjectFile = ''] = row.split(/(?<!\\)\|/).map((one) => one.trim());
    const [, flag = '', value = '', variable] = /^`--([\w-]+) ?([^`]*)`(?: \(`(\w+)`\))?$/.exec(name) ?? [];
    return {
      flag,
      value: value.replaceAll('\\|', '|'),
      variable: variable ?? `PATCHSMITH_${flag.toUpperCase().replaceAll('-', '_')}`,
      inProjectFile,
    };
  });
}
