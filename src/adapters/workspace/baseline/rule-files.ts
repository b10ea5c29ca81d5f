/** Collects the rule files of a checkout (.gitignore, .gitattributes) for the baseline rules. */

import { closeSync } from 'node:fs';
import { nameOf } from '../../../domain/changes/path.ts';
import { UnusableFile } from '../../../domain/errors/unusable-file.ts';
import { openRegular, readWhole } from '../../../files/opened-file.ts';
import { lookAt } from '../../../files/tree-view.ts';
import { runGit } from '../../../git/git.ts';
import { MAX_RULES_BYTES } from '../../../git/repository-file.ts';
import type { BaselineRules } from './baseline-rules.ts';
import type { BaselineIndex } from './index/baseline-index.ts';

/**
 * Copies one rule file of the work tree. A link does not count: git does not follow it. Throws `UnusableFile` for one that
 * is too large: git would read up to 100 MB of it and use thirty times as much memory.
 */
export function takeRuleFile(root: string, path: string, rules: BaselineRules): void {
  if (rules.isFrozen) return;
  const opening = openRegular(root, path);
  if (opening.status !== 'open') return;
  try {
    checkSize(`${root}/${path}`, opening.file.stat.size);
    rules.add(path, readWhole(opening.file));
  } finally {
    closeSync(opening.file.descriptor);
  }
}

/**
 * Copies the rule files that are in the index but not on disk, where git reads them too: attributes always, ignore rules if
 * a sparse checkout left them out.
 */
export async function takeRuleFilesOfIndex(
  root: string,
  index: BaselineIndex,
  shadowDir: string,
  rules: BaselineRules,
): Promise<void> {
  for (const [path, { blob, mode, skipWorktree }] of index.entries.ruleFiles()) {
    const name = nameOf(path);
    const counts = name === '.gitattributes' || (name === '.gitignore' && skipWorktree);
    if (!counts || blob === null || mode === '120000' || lookAt(root, path).status !== 'absent') continue;
    const bytes = await runGit({
      cwd: shadowDir,
      args: [`--git-dir=${shadowDir}`, 'cat-file', 'blob', blob],
    });
    checkSize(`${root}/${path}`, bytes.length);
    rules.add(path, bytes);
  }
}

function checkSize(file: string, bytes: number): void {
  if (bytes > MAX_RULES_BYTES) throw new UnusableFile(file, 'is too large for a file of its kind');
}
