/** Finds changes in a patch that deserve a second look before they are merged. They are in the patch like any other. */

import * as z from 'zod';
import type { FileState } from '../changes/change.ts';
import { nameOf } from '../changes/path.ts';
import { jsonOrUndefined } from '../text/json.ts';
import type { Flag, FlagName } from './flag.ts';
import { isFlagged, STEERING_PATHS } from './steering-paths.ts';
import { isTestFile, type TestsChange, testsChange } from './weakened-tests.ts';

/** A file of a patch. `before` is the state of the old path if it was renamed; null means absent. */
export interface ReviewedFile {
  readonly path: string;
  /** The old path of a renamed file. */
  readonly from?: string | undefined;
  readonly before: FileState | null;
  readonly after: FileState | null;
  /** Contents as text; empty if there is no file, null if it is too large or unavailable. */
  readonly textBefore: string | null;
  readonly textAfter: string | null;
}

/** `principles` are paths of files that were given to the model as principles. */
export function flagsOf(files: readonly ReviewedFile[], principles: readonly string[]): Flag[] {
  return files.flatMap((file) =>
    RULES.flatMap(({ flag, detail }) => {
      const found = detail(file, principles);
      return found === null ? [] : [{ path: file.path, flag, detail: found }];
    }),
  );
}

interface Rule {
  readonly flag: FlagName;
  /** Null when the rule does not apply. */
  readonly detail: (file: ReviewedFile, principles: readonly string[]) => string | null;
}

const RULES: readonly Rule[] = [
  ...[...new Set(STEERING_PATHS.map(({ flag }) => flag))].map((flag) => ({
    flag,
    detail: named(
      (path, principles) => isFlagged(path, flag) || (flag === 'principles' && principles.includes(path)),
    ),
  })),
  {
    flag: 'submodules',
    detail: ({ before, after }) => (isSubmodule(before) || isSubmodule(after) ? '' : null),
  },
  { flag: 'lock_file', detail: named((path) => LOCK_FILES.has(nameOf(path))) },
  { flag: 'package_scripts', detail: changedScripts },
  { flag: 'link_outside', detail: linkOutside },
  {
    flag: 'executable_added',
    detail: ({ before, after }) => (after?.mode === '100755' && before?.mode !== '100755' ? '' : null),
  },
  {
    flag: 'tests_deleted',
    detail: ({ path, from, before, after }) => {
      if (from !== undefined) return isTestFile(from) && !isTestFile(path) ? `was ${from}` : null;
      return before && !after && isTestFile(path) ? '' : null;
    },
  },
  {
    flag: 'tests_skipped',
    detail: counted(({ skipsAdded }) => (skipsAdded > 0 ? `${skipsAdded} added` : null), null),
  },
  { flag: 'tests_weakened', detail: counted(lossesOf, 'over 4 MiB or unavailable, so not counted') },
];

/** Names of the files in which package managers lock exact versions. */
const LOCK_FILES: ReadonlySet<string> = new Set([
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb'],
  ...[
    'deno.lock',
    'Cargo.lock',
    'go.sum',
    'poetry.lock',
    'Pipfile.lock',
    'uv.lock',
    'pdm.lock',
    'pylock.toml',
  ],
  ...['Gemfile.lock', 'composer.lock', 'mix.lock', 'pubspec.lock', 'packages.lock.json', 'gradle.lockfile'],
  ...['flake.lock', 'Podfile.lock', 'Package.resolved', 'conan.lock'],
]);

/** Applies to a file with such a name, before or after a rename. */
function named(isMeant: (path: string, principles: readonly string[]) => boolean): Rule['detail'] {
  return ({ path, from }, principles) => {
    if (isMeant(path, principles)) return '';
    return from !== undefined && isMeant(from, principles) ? `was ${from}` : null;
  };
}

function isSubmodule(state: FileState | null): boolean {
  return state?.mode === '160000';
}

function changedScripts({ path, after, textBefore, textAfter }: ReviewedFile): string | null {
  if (nameOf(path) !== 'package.json' || after === null) return null;
  const before = scriptsOf(textBefore);
  const now = scriptsOf(textAfter);
  if (now === null) return 'cannot be read';
  const changed = [...new Set([...(before?.keys() ?? []), ...now.keys()])].filter(
    (name) => before?.get(name) !== now.get(name),
  );
  return changed.length > 0 ? changed.slice(0, 10).join(', ') : null;
}

/** Each script with its command; null for text that is not a package.json. */
function scriptsOf(text: string | null): Map<string, string> | null {
  if (text === '') return new Map();
  if (text !== null && text.length > MAX_COUNTED) return null;
  const parsed = Package.safeParse(jsonOrUndefined((text ?? '').replace(/^\ufeff/, '')));
  if (!parsed.success) return null;
  return new Map(
    Object.entries(parsed.data.scripts ?? {}).map(([name, line]) => [name, JSON.stringify(line)]),
  );
}

const Package = z.looseObject({ scripts: z.record(z.string(), z.unknown()).optional() });

/** Judged by the link's target alone: any other link it passes through is a path of the repository too. */
function linkOutside({ path, after, textAfter }: ReviewedFile): string | null {
  if (after?.mode !== '120000') return null;
  if (textAfter === null) return 'cannot be read';
  if (textAfter.startsWith('/')) return textAfter;
  const place = path.split('/').slice(0, -1);
  for (const step of textAfter.split('/')) {
    if (step === '..') {
      if (place.pop() === undefined) return textAfter;
    } else if (step !== '' && step !== '.') place.push(step);
  }
  return place[0]?.toLowerCase() === '.git' ? textAfter : null;
}

function lossesOf({ testsLost, assertionsLost }: TestsChange): string | null {
  const losses = [
    ...(testsLost > 0 ? [`tests: ${testsLost} gone`] : []),
    ...(assertionsLost > 0 ? [`assertions: ${assertionsLost} gone`] : []),
  ];
  return losses.length === 0 ? null : losses.join(', ');
}

/** Maximum characters of a test file that are examined; a larger file is itself a reason to look. */
const MAX_COUNTED = 4 * 1024 * 1024;

function counted(detail: (change: TestsChange) => string | null, unknown: string | null): Rule['detail'] {
  return ({ path, textBefore, textAfter, after }) => {
    if (after === null) return null;
    if (textBefore === null || textAfter === null) return isTestFile(path) ? unknown : null;
    if (Math.max(textBefore.length, textAfter.length) > MAX_COUNTED) return isTestFile(path) ? unknown : null;
    const change = testsChange(path, textBefore, textAfter);
    return change && detail(change);
  };
}
