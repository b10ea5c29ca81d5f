/** Reasons not to publish a run, as far as the run alone shows them. */

import type { Clone } from '../../adapters/github/clone.ts';
import type { ChangedFile } from '../../domain/changes/change.ts';
import { folderOf, isWithin, resolvedPath } from '../../domain/changes/path.ts';
import { pathMatcher, pathPolicy } from '../../domain/changes/path-policy.ts';
import {
  consequenceOf,
  judgeProtected,
  overCaps,
  type ProtectedRules,
} from '../../domain/github/publishing/policy.ts';
import { policyViolation, type RunOutcome } from '../../domain/run/outcome.ts';
import type { PathRules } from '../../domain/run/plan.ts';
import { listed } from '../../domain/text/words.ts';
import { treeEntries } from '../../git/store/trees.ts';
import type { PublishJob, Refused } from './job.ts';
import type { CheckedPatch } from './read-run.ts';

/** `more` are additional globs. */
export function checkPolicy(
  { run: { result }, settings }: Pick<PublishJob, 'run' | 'settings'>,
  patch: CheckedPatch,
  more: readonly PathRules[] = [],
): Refused | Protected {
  const size = { files: patch.files.length, bytes: patch.bytes.length };
  const caps = { maxFiles: settings.maxPatchFiles, maxBytes: settings.maxPatchBytes };
  const objection = overCaps(size, caps) ?? forbidden({ result, settings }, more);
  if (objection !== null) return { status: 'refused', outcome: objection };
  return judged(result.changedFiles, rulesOf({ result, settings }));
}

/** The same for files that links with protected names lead to in the tree that the patch is for: under those names. The clone has it. */
export async function checkLinked(
  { run: { result }, settings }: Pick<PublishJob, 'run' | 'settings'>,
  clone: Clone,
  { files }: CheckedPatch,
  tree: string,
): Promise<Refused | Protected> {
  const rules = rulesOf({ result, settings });
  const links = ((await treeEntries(clone.gitDir, tree)) ?? []).filter(
    ({ path, mode }) => mode === '120000' && consequenceOf(path, rules) !== null,
  );
  const targets = await clone.contents(links.map(({ id }) => id));
  const touched = files
    .flatMap(({ path, from }) => (from === null ? [path] : [from, path]))
    .map((one) => `/${one}`);
  const names = links.flatMap(({ path, id }) => {
    const target = resolvedPath(`/${folderOf(path)}`, String(targets.get(id))).replace(/^\/$/, '');
    return touched.filter((one) => isWithin(one, target)).map((one) => path + one.slice(target.length));
  });
  return judged(
    names.map((path) => ({ path, kind: 'modify', additions: null, deletions: null })),
    rules,
  );
}

interface Protected {
  readonly status: 'ok';
  /** What may only be published as a draft. */
  readonly protectedPaths: string[];
}

function rulesOf({ result, settings }: Pick<PublishJob, 'result' | 'settings'>): ProtectedRules {
  return {
    mode: settings.protectedPaths,
    isAccepted: pathMatcher(settings.acceptProtected),
    principles: result.principles.map(({ path }) => path),
  };
}

function judged(files: readonly ChangedFile[], rules: ProtectedRules): Refused | Protected {
  const verdict = judgeProtected(files, rules);
  if (verdict.status === 'refused') return verdict;
  return { status: 'ok', protectedPaths: verdict.status === 'draft' ? verdict.paths : [] };
}

/** The globs of the plan, of the run's settings and of our own settings all apply. */
function forbidden(
  { result, settings }: Pick<PublishJob, 'result' | 'settings'>,
  more: readonly PathRules[],
): RunOutcome | null {
  const rules = [result.plan, result.paths, settings, ...more].flatMap((given) => given ?? []);
  const mayChange = pathPolicy(...rules);
  const touched = result.changedFiles.flatMap(({ path, from }) =>
    from === undefined ? [path] : [from, path],
  );
  const paths = touched.filter((path) => !mayChange(path));
  if (paths.length === 0) return null;
  return policyViolation(
    'ERR_FORBIDDEN_PATH',
    `The plan and the settings do not allow changes to: ${listed(paths, 10, 'file')}. See allow and protect in the settings and in the plan.`,
  );
}
