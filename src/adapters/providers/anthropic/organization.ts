/**
 * What an organisation has spent on the Claude API, according to its Admin API: tokens from the usage report, money
 * from the cost report. Both are documented at platform.claude.com/docs under "Usage and Cost API".
 */

import * as z from 'zod';
import { addUsage, noUsage, totalTokens, Usage } from '../../../domain/conversation/conversation.ts';
import { failed } from '../../../domain/failed.ts';
import type { SpentEntry } from '../../../domain/runs/spending.ts';
import type { OrganizationRequest, OrganizationSpending } from '../organization-spending.ts';
import { readReport } from './report-pages.ts';

const Count = z
  .int()
  .nonnegative()
  .nullish()
  .transform((count) => count ?? 0);

/** A row of the usage report when it is grouped by model and service tier. */
const UsageRow = z
  .object({
    model: z.string().nullish(),
    service_tier: z.string().nullish(),
    uncached_input_tokens: Count,
    cache_read_input_tokens: Count,
    output_tokens: Count,
    cache_creation: z
      .object({ ephemeral_5m_input_tokens: Count, ephemeral_1h_input_tokens: Count })
      .nullish(),
  })
  .transform((row) => ({
    model: row.model ?? null,
    // Commitments are billed differently, and are not in the cost report.
    isUnpriced: row.service_tier?.startsWith('priority') ?? false,
    tokens: Usage.parse({
      input: row.uncached_input_tokens,
      output: row.output_tokens,
      cacheRead: row.cache_read_input_tokens,
      cacheWrite: row.cache_creation?.ephemeral_5m_input_tokens ?? 0,
      cacheWrite1h: row.cache_creation?.ephemeral_1h_input_tokens ?? 0,
    }),
  }));

/** A row of the cost report when it is grouped by description. Amounts are decimal numbers of cents; credits are negative. */
const CostRow = z.object({
  amount: z.string().regex(/^-?\d{1,15}(?:\.\d{1,30})?$/, 'not a decimal number of cents'),
  currency: z.literal('USD', 'not an amount in USD'),
  model: z.string().nullish(),
  description: z.string().nullish(),
});

/** Requests page by page, and stops at the first refusal. */
export async function readOrganization(request: OrganizationRequest): Promise<OrganizationSpending> {
  const usage = await readReport(request, {
    path: '/v1/organizations/usage_report/messages',
    groupBy: ['model', 'service_tier'],
    row: UsageRow,
  });
  if (usage.status === 'failed') return usage;
  const costs = await readReport(request, {
    path: '/v1/organizations/cost_report',
    groupBy: ['description'],
    row: CostRow,
  });
  if (costs.status === 'failed') return costs;
  const lines = new Map<string, DailyUsage>();
  for (const { day, model, isUnpriced, tokens } of usage.rows) {
    const line = lineOf(lines, day, model ?? 'unnamed model');
    line.tokens = addUsage(line.tokens, tokens);
    line.isUnpriced ||= isUnpriced && totalTokens(tokens) > 0;
  }
  for (const { day, model, description, amount } of costs.rows) {
    const line = lineOf(lines, day, model ?? description ?? 'other costs');
    line.cents = (line.cents ?? 0) + Number(amount);
  }
  const spending = [...lines.values()].flatMap(spendingOf);
  return spending.every(({ tokens }) => Usage.safeParse(tokens).success)
    ? { status: 'ok', spending }
    : failed('The Admin API reports more tokens than can be counted.');
}

/** One model on one day. */
interface DailyUsage {
  readonly day: string;
  readonly model: string;
  tokens: Usage;
  /** Null until a cost is reported. */
  cents: number | null;
  isUnpriced: boolean;
}

function lineOf(lines: Map<string, DailyUsage>, day: string, model: string): DailyUsage {
  const key = `${day} ${model}`;
  const line = lines.get(key) ?? { day, model, tokens: noUsage, cents: null, isUnpriced: false };
  lines.set(key, line);
  return line;
}

/** Tokens without a reported cost have an unknown cost. */
function spendingOf({ day, model, tokens, cents, isUnpriced }: DailyUsage): SpentEntry[] {
  const part = { day, model, plan: null, estimated: false };
  const costUsd = cents === null ? (totalTokens(tokens) === 0 ? 0 : null) : cents / 100;
  if (!isUnpriced || costUsd === null) return [{ ...part, tokens, costUsd }];
  return [
    { ...part, tokens, costUsd },
    { ...part, tokens: noUsage, costUsd: null },
  ];
}
