/** Wording of comments for people who know settings by the names of workflow inputs. */

import { settingEntries } from '../../../config/schema.ts';
import type { OutcomeName } from '../../../domain/run/exit-code.ts';
import type { RunOutcome } from '../../../domain/run/outcome.ts';
import type { CommentFacts } from '../../../texts/issue-comment.ts';
import type { PublishJob } from '../job.ts';

/** The facts that do not depend on what was made. */
export function forReaders(
  job: Pick<PublishJob, 'result' | 'settings' | 'upstream' | 'runUrl' | 'isStep'>,
  outcome: RunOutcome,
): Pick<CommentFacts, 'result' | 'outcome' | 'runUrl' | 'repositoryUrl' | 'isStep'> {
  const { result, settings, upstream, runUrl, isStep } = job;
  const inWords = <T extends { reason: string }>(end: T): T =>
    isStep && !isOfOthers(outcome.name) ? { ...end, reason: inputWords(end.reason) } : end;
  const repositoryUrl = `${settings.githubServerUrl}/${upstream.owner}/${upstream.repo}`;
  return { result: inWords(result), outcome: inWords(outcome), runUrl, repositoryUrl, isStep };
}

/** Its reason contains the model's words, or a command line with its own flags. */
function isOfOthers(name: OutcomeName): boolean {
  return name === 'blocked' || name === 'verify_failed' || name === 'provider_error';
}

/** More than a comment shows of a reason. */
const MOST = 4_000;

/**
 * `publish with --reopen always` becomes `publish with reopen: always`; a flag of something else stays. What is beyond the first
 * 4,000 characters is left out.
 */
export function inputWords(reason: string): string {
  const settings = settingEntries();
  return reason.slice(0, MOST).replace(FLAG, (whole: string, flag: string, word: string | undefined) => {
    const setting = settings.find((entry) => entry.flag === flag);
    if (setting === undefined) return whole;
    const input = flag === 'plan' ? 'plan-file' : flag;
    const isValue = word !== undefined && (/^[A-Z\d]/.test(word) || setting.value?.split('|').includes(word));
    if (isValue) return `${input}: ${word}`;
    const rest = word === undefined ? '' : ` ${word}`;
    return `${setting.value === undefined ? `${input}: true` : `the input ${input}`}${rest}`;
  });
}

const FLAG =
  /(?<![\w-]|(?<![/\w])(?:patchsmith|git|npm) [^.;]{0,300})--([a-z][a-z-]*[a-z])(?: ([A-Z]{2,}(?![a-z])|\d+[smhkgt]?(?![\w.])|[a-z]+(?![\w-])))?/g;
