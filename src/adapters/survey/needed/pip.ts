/**
 * Packages that pip would download into a virtual environment that does not exist yet; creating it takes seconds
 * before pip requests one.
 */

import { openFolder } from '../folder.ts';
import { at, type Folder, keysAt } from '../project.ts';

/**
 * Whether the command, which runs in that folder of the root, makes a virtual environment and installs into it what has to be loaded.
 * False where that is not certain.
 */
export async function pipLoads(root: string, folder: string, command: string): Promise<boolean> {
  const opened = openFolder(root, folder === '' ? '' : `${folder}/`, new Map());
  const [, place] = /\bpython[\d.]* -m venv (?:--[\w-]+ )*([\w.-]+)(?=\s|;|$)/.exec(command) ?? [];
  if (opened === null || place === undefined || opened.names.has(place)) return false;
  if (FROM_ELSEWHERE.test(command)) return false;
  const pip = `${place.replaceAll('.', '\\.')}/bin/(?:python[\\d.]* -m )?pip3? install ([^;&|}\\n]+)`;
  for (const [, words = ''] of command.matchAll(new RegExp(pip, 'g')))
    if (await loads(words.trim().split(/\s+/), opened)) return true;
  return false;
}

/** Another index, or none. */
const FROM_ELSEWHERE =
  /\bPIP_|--(?:no-index|find-links|index-url|extra-index-url|system-site-packages|no-build-isolation)\b|\s-[fi]\b/;
/** A name in the index, with extras and versions. A name with a slash, or of a file, is a path. */
const NAMED = /^["']?[A-Za-z0-9][\w.-]*(?:\[[\w,.-]*\])?(?:[=<>!~][^/]*)?["']?$/;
const IS_FILE = /\.(?:whl|zip|tar\.\w+)["']?$/;
/** Present in every new environment. */
const BROUGHT = /^(?:pip|setuptools|wheel)$/;

async function loads(words: readonly string[], folder: Folder): Promise<boolean> {
  for (const [at, word] of words.entries()) {
    const before = words[at - 1] ?? '';
    if (before === '-r' || before === '--requirement') {
      if (namesPackages((await folder.text(word)) ?? '')) return true;
    } else if (before === '--group') return true;
    else if (/^["']?\.(?:\[|["']?$)/.test(word)) {
      if (await isBuiltWithPackages(word, folder)) return true;
    } else if (!word.startsWith('-') && !/^-(?:c|-constraint|e|-editable|t|-target)$/.test(before)) {
      if (NAMED.test(word) && !IS_FILE.test(word) && !BROUGHT.test(word)) return true;
    }
  }
  return false;
}

function namesPackages(requirements: string): boolean {
  return requirements.split('\n').some((line) => NAMED.test(line.split(/[\s;#]/, 1)[0] ?? ''));
}

/** pip builds a project in a separate environment, with setuptools unless something else is named. */
async function isBuiltWithPackages(word: string, folder: Folder): Promise<boolean> {
  const project = await folder.toml('pyproject.toml');
  const needed = at(project, 'build-system', 'requires');
  if (!Array.isArray(needed) || needed.length > 0) return true;
  return word.includes('[') || keysAt(project, 'project', 'dependencies').length > 0;
}
