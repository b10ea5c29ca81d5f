/** Decides which attempt is brought into the work tree, and what is reported about the others. */

import { type AttemptSpending, withAttemptHosts, withAttempts } from '../../domain/attempts/attempts.ts';
import { chosenAmong } from '../../domain/attempts/rank.ts';
import { inFewWords } from '../../domain/changes/ignored-files.ts';
import { noUsage } from '../../domain/conversation/conversation.ts';
import { interrupted, type Stopped, stopped } from '../../domain/run/outcome.ts';
import type { RunResult } from '../../domain/run/result.ts';
import { listed, pluralize } from '../../domain/text/words.ts';
import { continuing } from '../finish/crash.ts';
import type { Session } from '../session.ts';
import type { Chosen } from './bring-in.ts';
import type { AttemptsPlace, Made } from './make-attempt.ts';

/** Nothing is brought in after a signal, or from attempts that have not begun. */
export function choose(
  session: Session,
  { checkout, directory }: AttemptsPlace,
  made: readonly [Made, ...Made[]],
): Chosen | Stopped {
  const { settings, interrupt } = session.input;
  const { attempts: asked } = settings;
  const list = made.map(({ attempt }) => attempt);
  const first = made[0].result;
  /** Records the part of the first one's result that is said of the run, and what all have spent. */
  const none = (said: Partial<RunResult>, why: string) => {
    const attempts = { asked, chosen: null, why, list };
    const network = first.network && { ...first.network, hosts: withAttemptHosts([], attempts) };
    session.record({ ...said, ...withAttempts(UNSPENT, attempts), attempts, network });
  };
  for (const { number, outcome, files, lines, path } of list)
    session.progress.note(
      `attempt ${number}: ${outcome}, ${pluralize(lines, 'line')} in ${pluralize(files, 'file')} (${path})`,
    );
  if (interrupt.aborted) {
    const { signal } = interrupt.reason;
    const { plan, followUp, principles, paths, provider, model } = first;
    const { baseSha, baseBranch, baseTree, baseDirty, sandbox } = first;
    const task = { plan, followUp, principles, paths, provider, model };
    none(
      { ...task, baseSha, baseBranch, baseTree, baseDirty, sandbox },
      'a signal came before one was chosen',
    );
    const kept = whatIsKept(made, (path) => continuing(session, path, { repo: checkout.root }));
    return stopped(interrupted(signal, `Stopped by ${signal}; ${kept}.`));
  }
  const { best, why } = chosenAmong(made, ({ attempt }) => attempt);
  if (!best.hasBegun) {
    const { runId: _, status: __, ...others } = best.result;
    none(others, 'the first one ended before its work started');
    return stopped(best.outcome);
  }
  const { number } = best.attempt;
  session.progress.note(`attempt ${number} of ${asked} chosen: ${why}`);
  const { verify, verifyIn, ignoredFiles } = best.result;
  // Whatever its verify commands have run of that is not there any more.
  if (verify.length > 0 && verifyIn === 'worktree' && ignoredFiles.length > 0)
    session.warn(
      'WARN_VERIFIED_IN_COPY',
      `The verify commands ran in the copy of attempt ${number}, next to changed ignored files, which stayed behind: ${listed(inFewWords(ignoredFiles), 5)}. Run them again here, or use --verify-in checkout.`,
    );
  const named = list.map((one) => (one === best.attempt ? { ...one, path: directory.path } : one));
  const attempts = { asked, chosen: number, why, list: named };
  return { status: 'chosen', checkout, directory, best, attempts };
}

const UNSPENT: AttemptSpending = { tokens: noUsage, costUsd: 0, estimated: false, models: [] };

/** The middle of a sentence. */
function whatIsKept(made: readonly Made[], commandFor: (path: string) => string): string {
  const begun = made.flatMap(({ hasBegun, attempt }) => (hasBegun ? [attempt] : []));
  if (begun.length === 0) return 'no attempt had begun';
  const kept = begun.map(({ outcome, path }) => `${path} (${outcome})`);
  const cut = begun.find(({ outcome }) => outcome === 'interrupted');
  const next = cut === undefined ? '' : `; continue one with: ${commandFor(cut.path)}`;
  return `nothing was applied to the work tree, and the attempts are kept: ${listed(kept, 10)}${next}`;
}
