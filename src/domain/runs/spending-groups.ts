/** By what spending is summed. In a separate file, since every start loads it, and few need the sums. */

/** The values of `--by`. */
export const SPENDING_GROUPS = ['model', 'plan', 'day'] as const;

/** One of `SPENDING_GROUPS`. */
export type SpendingGroup = (typeof SPENDING_GROUPS)[number];
