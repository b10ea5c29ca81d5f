/** Reasons not to publish a run, as far as the run alone shows them. */

import { pathMatcher, pathPolicy } from '../../domain/changes/path-policy.ts';
import { judgeProtected, overCaps } from '../../domain/github/publishing/policy.ts';
import { policyViolation, type RunOutcome } from '../../domain/run/outcome.ts';
import type { PathRules } from '../../domain/run/plan.ts';
import { listed } from '../../domain/text/listed.ts';
import type { PublishJob, Refused } from './job.ts';
import type { CheckedPatch } from './read-run.ts';

/** `protectedPaths` may only be published as a draft; `more` are additional globs. */
export function checkPolicy(
  { run: { result }, settings }: Pick<PublishJob, 'run' | 'settings'>,
  patch: CheckedPatch,
  more: readonly PathRules[] = [],
): Refused | { status: 'ok'; protectedPaths: string[] } {
  const size = { files: patch.files.length, bytes: patch.bytes.length };
  const caps = { maxFiles: settings.maxPatchFiles, maxBytes: settings.maxPatchBytes };
  const objection = overCaps(size, caps) ?? forbidden({ result, settings }, more);
  if (objection !== null) return { status: 'refused', outcome: objection };
  const verdict = judgeProtected(result.changedFiles, {
    mode: settings.protectedPaths,
    isAccepted: pathMatcher(settings.acceptProtected),
    principles: result.principles.map(({ path }) => path),
  });
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
