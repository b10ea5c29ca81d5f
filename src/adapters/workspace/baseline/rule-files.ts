/** Collects the rule files of a checkout (.gitignore, .gitattributes) for the rules of the start. */

import { closeSync } from 'node:fs';
import { openRegular, readWhole } from '../../../files/opened-file.ts';
import { lookAt } from '../../../files/tree-view.ts';
import { runGit } from '../../../git/git.ts';
import type { BaselineIndex } from './baseline-index.ts';
import type { BaselineRules } from './baseline-rules.ts';

/** Git, too, passes over rule files above this size. */
const MAX_RULE_BYTES = 100 * 1024 * 1024;

/** Takes over one rule file of the work tree. A link is none: git does not follow it. */
export function takeRuleFile(root: string, path: string, rules: BaselineRules): void {
  if (rules.isFrozen) return;
  const opening = openRegular(root, path);
  if (opening.status !== 'open') return;
  try {
    if (opening.file.stat.size <= MAX_RULE_BYTES) rules.add(path, readWhole(opening.file));
  } finally {
    closeSync(opening.file.descriptor);
  }
}

/**
 * Takes over the rule files that are in the index and not on disk, where git reads them too: attributes always,
 * ignore rules when a sparse checkout left them out.
 */
export async function takeRuleFilesOfIndex(
  root: string,
  index: BaselineIndex,
  shadowDir: string,
  rules: BaselineRules,
): Promise<void> {
  for (const [path, { blob, mode, skipWorktree }] of index.entries) {
    const name = path.slice(path.lastIndexOf('/') + 1);
    const counts = name === '.gitattributes' || (name === '.gitignore' && skipWorktree);
    if (!counts || blob === null || mode === '120000' || lookAt(root, path).status !== 'absent') continue;
    const bytes = await runGit({
      cwd: shadowDir,
      args: [`--git-dir=${shadowDir}`, 'cat-file', 'blob', blob],
    });
    rules.add(path, bytes);
  }
}
