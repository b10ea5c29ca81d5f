/** How often the model used names of parameters that belong to other tools. */

import type { ToolCall } from './conversation.ts';

/** Counts by tool and alias: `{"edit_file.old_string": 3}`. */
export type AliasCounts = Readonly<Record<string, number>>;

/** The counts with the calls of one more turn. */
export function withAliases(counts: AliasCounts, calls: readonly ToolCall[]): AliasCounts {
  const used = calls.flatMap(({ name, aliases = [] }) => aliases.map((alias) => `${name}.${alias}`));
  if (used.length === 0) return counts;
  const all = new Map(Object.entries(counts));
  for (const name of used) all.set(name, (all.get(name) ?? 0) + 1);
  return Object.fromEntries(all);
}
