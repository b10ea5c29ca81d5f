/**
 * Reads, lists and searches files while the baseline is being taken. This uses separate rules: nothing is shared with the scan of
 * the whole tree, which is still collecting the original ones.
 */

import { join } from 'node:path';
import { NO_GUARD } from '../../domain/changes/path-policy.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import type { UserSettings } from '../../git/user-settings.ts';
import type { Workspace } from '../../ports/workspace.ts';
import { BaselineRules } from './baseline/baseline-rules.ts';
import type { BaselineIndex } from './baseline/index/baseline-index.ts';
import { LiveRules } from './baseline/live-rules.ts';
import { takeRuleFile, takeRuleFilesOfIndex } from './baseline/rule-files.ts';
import { foldersOf } from './baseline/tracked-paths.ts';
import type { WalkedTree } from './snapshot/walked-tree.ts';
import { readableFiles } from './work-tree-files.ts';

/** What is known about the checkout before it is scanned. */
interface EarlyParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly settings: UserSettings;
  readonly index: BaselineIndex;
  /** That of the baseline; its rules are not asked. */
  readonly tree: WalkedTree;
}

/** What a run may do before its baseline is known. */
export type EarlyFiles = Pick<Workspace, 'readFile' | 'listFiles' | 'search'>;

/** Changes neither the work tree nor what the baseline comes to. */
export function earlyFiles(parts: EarlyParts): EarlyFiles {
  const { checkout, tree } = parts;
  let rules: Promise<EarlyRules> | null = null;
  const filesBy = async (path: string): Promise<EarlyFiles> => {
    rules ??= readRules(parts);
    const { live, onRuleFile } = await rules;
    // Those below are taken by the walk.
    for (const above of ['', ...foldersOf(path)])
      onRuleFile(above === '' ? '.gitignore' : `${above}/.gitignore`);
    return readableFiles({ ...tree, rules: live, onRuleFile }, checkout.objectFormat);
  };
  return {
    readFile: readableFiles(tree, checkout.objectFormat).readFile,
    listFiles: async (path, glob) => (await filesBy(path)).listFiles(path, glob),
    search: async (query) => (await filesBy(query.path)).search(query),
  };
}

interface EarlyRules {
  readonly live: LiveRules;
  onRuleFile(path: string): void;
}

/** Whatever is asked about a path, the rule files of the folders above it have been taken before. */
async function readRules({ checkout, shadowDir, settings, index, tree }: EarlyParts): Promise<EarlyRules> {
  const { root, commonDir } = checkout;
  const own = new BaselineRules(join(shadowDir, 'rules-early'), join(commonDir, 'info'), settings);
  await takeRuleFilesOfIndex(root, index, shadowDir, own);
  const taken = new Set<string>();
  // Nothing acts before the baseline is there, so rules are read once and not followed.
  const live = new LiveRules({
    ...{ root, baseline: own, closed: tree.closed },
    copy: () => own,
    guard: NO_GUARD,
    isVoid: () => false,
    clock: () => 0n,
    warn: () => undefined,
  });
  const onRuleFile = (path: string) => {
    if (!taken.has(path)) takeRuleFile(root, path, own);
    taken.add(path);
  };
  return { live, onRuleFile };
}
