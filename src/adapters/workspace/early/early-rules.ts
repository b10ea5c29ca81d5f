/**
 * Ignore rules and attributes while the baseline is being taken: separate ones, so that nothing is shared with the look at the
 * whole tree, which collects the rules of the start on its way.
 */

import { join } from 'node:path';
import { NO_GUARD } from '../../../domain/changes/path-policy.ts';
import type { Checkout } from '../../../git/checkout-layout.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { BaselineRules } from '../baseline/baseline-rules.ts';
import type { Conversion } from '../baseline/conversion.ts';
import type { BaselineIndex } from '../baseline/index/baseline-index.ts';
import { LiveRules } from '../baseline/live-rules.ts';
import { takeRuleFile, takeRuleFilesOfIndex } from '../baseline/rule-files.ts';
import { foldersOf } from '../baseline/tracked-paths.ts';
import type { WalkedTree } from '../snapshot/walked-tree.ts';

/** What is known of the checkout before it is looked at. */
export interface EarlyParts {
  readonly checkout: Checkout;
  readonly shadowDir: string;
  readonly settings: UserSettings;
  readonly index: BaselineIndex;
  /** That of the baseline; its rules are not asked. */
  readonly tree: WalkedTree;
}

/** Whatever is asked about a path, the rule files of the folders above it have been taken before. */
export interface EarlyRules {
  readonly live: LiveRules;
  /** Takes an ignore file that was found on the way. */
  onRuleFile(path: string): void;
  /** Takes the rule files of the folders above a path. */
  takeAbove(path: string): void;
  conversionOf(path: string): Promise<Conversion | null>;
  /** For a path that is not tracked, in folders that are not ignored. */
  isIgnored(path: string): Promise<boolean>;
}

/** Returns a function that reads the rules when they are first needed. */
export function earlyRules(parts: EarlyParts): () => Promise<EarlyRules> {
  let rules: Promise<EarlyRules> | null = null;
  return () => {
    rules ??= readRules(parts);
    return rules;
  };
}

async function readRules({ checkout, shadowDir, settings, index, tree }: EarlyParts): Promise<EarlyRules> {
  const { root, commonDir } = checkout;
  const own = new BaselineRules(join(shadowDir, 'rules-early'), join(commonDir, 'info'), settings);
  await takeRuleFilesOfIndex(root, index, shadowDir, own);
  const taken = new Set<string>();
  // No rule file is written before the baseline is there, so rules are read once and not followed.
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
  return {
    live,
    onRuleFile,
    takeAbove(path) {
      for (const above of ['', ...foldersOf(path)]) {
        const prefix = above === '' ? '' : `${above}/`;
        onRuleFile(`${prefix}.gitignore`);
        onRuleFile(`${prefix}.gitattributes`);
      }
    },
    conversionOf: async (path) => (await own.conversions([path])).get(path) ?? null,
    isIgnored: async (path) => (await own.ignored([path])).has(path),
  };
}
