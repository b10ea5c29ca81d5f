/** Whether what earlier runs have cost leaves room for another one: `--cost-per-day` and `--cost-per-plan`. */

import type { OnGitHub } from '../../../adapters/github/request.ts';
import { readCosts } from '../../../adapters/github/run-costs.ts';
import { startOfId } from '../../../adapters/storage/run-directory.ts';
import type { Settings } from '../../../config/schema.ts';
import { type RunCost, sumOfCosts } from '../../../domain/github/publishing/costs.ts';
import { limitReached, type RunOutcome } from '../../../domain/run/outcome.ts';
import { pluralize } from '../../../domain/text/words.ts';

const DAY_MS = 24 * 3_600_000;

/** How far back the runs of a plan count. */
const DAYS = 30;

/** What is left: `words` are for people, empty without a limit. */
export interface SpentBudget {
  readonly words: string;
  /** Null if another run may begin; `marker` is the id of its plan or pull request. */
  whyNot(marker: string | null): RunOutcome | null;
}

/** Reads nothing where nothing is limited. Throws `GitHubRefused`. */
export async function readBudget(
  where: OnGitHub,
  { costPerDay, costPerPlan }: Pick<Settings, 'costPerDay' | 'costPerPlan'>,
  now: number,
): Promise<SpentBudget> {
  if (costPerDay === null && costPerPlan === null) return { words: '', whyNot: () => null };
  const { costs } = await readCosts(where, now - (costPerPlan === null ? 1 : DAYS) * DAY_MS);
  const since = (days: number) =>
    costs.filter(({ runId }) => (startOfId(runId) ?? now) > now - days * DAY_MS);
  const used = (some: readonly RunCost[], limit: number, span: string) =>
    `USD ${sumOfCosts(some).toFixed(2)} of ${limit.toFixed(2)} ${span} (${pluralize(some.length, 'run')})`;
  const refusal = (some: readonly RunCost[], limit: number | null, span: string, flag: string) =>
    limit === null || sumOfCosts(some) < limit
      ? null
      : limitReached(
          'ERR_BUDGET_USED',
          `Runs have used ${used(some, limit, span)}: no model is asked until that is less, or ${flag} is raised.`,
        );
  const today = since(1);
  return {
    words: costPerDay === null ? '' : `Used: ${used(today, costPerDay, IN_A_DAY)}.`,
    whyNot(marker) {
      const ofPlan = since(DAYS).filter((one) => one.marker === marker);
      return (
        refusal(today, costPerDay, IN_A_DAY, '--cost-per-day') ??
        refusal(ofPlan, costPerPlan, `for this plan in ${DAYS} days`, '--cost-per-plan')
      );
    },
  };
}

const IN_A_DAY = 'in 24 hours';
