/** Before pull requests are continued: who asks, whether the work could be published, and the round of each, recorded. */

import type { OwnPull } from '../../../adapters/github/follow-up/continued-pull.ts';
import { putComment } from '../../../adapters/github/issues.ts';
import type { Trigger } from '../../../domain/github/follow-up.ts';
import { issuePlanId, markerOf } from '../../../domain/github/publishing/identity.ts';
import { escaped } from '../../../domain/github/publishing/markdown.ts';
import { roundWords } from '../../../domain/github/rounds.ts';
import { done, noChange, publishFailed, type RunOutcome } from '../../../domain/run/outcome.ts';
import { warning } from '../../../domain/warnings/warning.ts';
import { sha256Of } from '../../../files/hash.ts';
import { shortComment } from '../../../texts/issue-comment.ts';
import { ended, obstacleIn, type PublishPlace } from '../place.ts';
import { beginRound, type RoundBegun, type RoundQuestion } from './begin-round.ts';

/** The pull requests to continue. */
export interface RoundsWanted extends Pick<RoundQuestion, 'event' | 'now'> {
  readonly pulls: readonly OwnPull[];
  readonly trigger: Trigger;
}

/** `outcome` says why there is no round for a pull request. */
export interface RoundsPrepared {
  /** The numbers of those that have one, and what is said of it. */
  readonly ready: readonly number[];
  readonly words: readonly string[];
  readonly outcome: RunOutcome;
  /** What a person asks for has been paid for already, and what came of it is said there. */
  readonly isRepeated: boolean;
}

/** For a round that nobody asked for, comments on the pull request that it begins, or why it does not. */
export async function prepareRounds(
  place: PublishPlace,
  { pulls, trigger, event, now }: RoundsWanted,
): Promise<RoundsPrepared> {
  const { settings, say } = place;
  const question = { event, now, caps: settings, runId: null };
  const ready: number[] = [];
  const words: string[] = [];
  const reasons: string[] = [];
  let failed: RunOutcome | null = null;
  let isRepeated = false;
  for (const pull of pulls) {
    const begun = await ended(place, () => beginRound(place, question, { pull, trigger }));
    if ('name' in begun) {
      failed ??= begun;
      continue;
    }
    if (begun.status === 'recorded') {
      const said = roundWords(begun, settings);
      ready.push(pull.number);
      words.push(said);
      say(`pull request #${pull.number}: ${said}`);
    } else {
      reasons.push(begun.why);
      isRepeated ||= trigger === 'request' && !begun.isSpent;
    }
    if (trigger !== 'request') await tell(place, { pull, trigger, begun });
  }
  const reason = reasons.join(' ');
  const outcome =
    failed ??
    (ready.length > 0
      ? done(`${RUN_CAN_START} ${reason}`.trim())
      : // A person is waiting for it.
        trigger === 'request'
        ? publishFailed('ERR_ROUND_NOT_RECORDED', reason)
        : noChange(reason || 'No pull request of patchsmith needs more work.'));
  return { ready, words, outcome, isRepeated };
}

/** How a preparation ends that stands in the way of nothing. */
export const RUN_CAN_START = 'GitHub permits the publication; the run can start.';

/** A pause is not worth a comment: it passes. */
async function tell(
  place: PublishPlace,
  { pull, trigger, begun }: { pull: OwnPull; trigger: Trigger; begun: RoundBegun },
): Promise<void> {
  const { settings, upstream: where, runUrl, publication, sayMade } = place;
  if (settings.comment === 'never' || (begun.status === 'refused' && !begun.isSpent)) return;
  const url = `${settings.githubServerUrl}/${where.owner}/${where.repo}/pull/${pull.number}`;
  const marker = markerOf(issuePlanId(url, sha256Of));
  const what = trigger === 'check' ? 'a failed check' : 'a conflict with the base';
  const words =
    begun.status === 'refused'
      ? {
          headline: 'The pull request was not continued',
          reason: escaped(begun.why, 2_000),
          next: 'No model was asked.',
          // It stays the same, whatever happens after that.
          runUrl: null,
        }
      : {
          headline: 'Continuing this pull request',
          reason: `For ${what}: ${roundWords(begun, settings)}. It counts, whatever comes of it.`,
          next: 'The text of the pull request will list the commit; if there is none, this comment will say why.',
          runUrl,
          link: 'See the log',
        };
  const body = shortComment({ ...words, marker });
  const unheard = await obstacleIn(place, async () => {
    publication.comment = await putComment(where, { issue: pull.number, marker, body });
    sayMade(`comment on #${pull.number} ${publication.comment.operation}`);
  });
  if (unheard !== null) publication.warnings.push(warning('WARN_NO_COMMENT', unheard.reason));
}
