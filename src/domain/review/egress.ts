/** The egress record: every host that a run asked for, who asked, and whether it was reached. */

import * as z from 'zod';
import { flagFor } from './reachable.ts';

/** Who asked for a host. */
const ASKED_BY = ['command', 'web_fetch', 'mcp', 'provider'] as const;
/** One of `ASKED_BY`. */
export type AskedBy = (typeof ASKED_BY)[number];

/** A host that was asked for, how it ended, and how often. */
export const HostUse = z.strictObject({
  host: z
    .string()
    .describe('As it was asked for, with a port other than 443 and 80; shortened where it is long'),
  by: z
    .enum(ASKED_BY)
    .describe(
      'command: also setup and verify commands, and MCP servers in the sandbox while a command ran; mcp: one by HTTP, or in the sandbox; provider: all models of the run',
    ),
  outcome: z
    .enum(['reached', 'refused', 'failed'])
    .describe(
      'reached: it answered, or a tunnel to it was opened; refused: patchsmith did not let the request through; failed: there was no answer',
    ),
  times: z.int().positive(),
  why: z.string().describe('Why it was refused or failed, as the command was told'),
  allow: z.string().nullable().describe('The flag that allows it; null where none does'),
});
export type HostUse = z.infer<typeof HostUse>;

/** A host that was refused to commands. */
export type RefusedHost = Omit<HostUse, 'by' | 'outcome'>;

/** Reports a request. `allow` is that of one that was refused; default: null. */
export type OnUsed = (
  use: Pick<HostUse, 'host' | 'outcome' | 'why'> & Partial<Pick<HostUse, 'allow'>>,
) => void;

/** A use, with the calls whose commands were running at that moment, or the setup and verify commands that were. */
export const AskedHost = HostUse.extend({
  calls: z.array(z.string()),
  commands: z.array(z.string()).optional(),
});
export type AskedHost = z.infer<typeof AskedHost>;

/** A host whose name a program asked for by itself, past the proxy. */
export function lookedUpHost(host: string): RefusedHost {
  const allow = flagFor({ host, port: 443 }, false);
  const why = `${host} was looked up without the proxy, and there is no name server; for programs that use HTTPS_PROXY: ${allow}`;
  return { host, times: 1, why, allow };
}

/** What the result says about the network. */
export const NetworkUse = z.strictObject({
  allowed: z
    .array(z.string())
    .nullable()
    .describe(
      'Hosts that commands may reach; none means no network at all, null that there is no sandbox: they can reach whatever the machine can, and are not in `hosts`',
    ),
  hosts: z
    .array(HostUse)
    .describe(
      'Every host that commands, web_fetch, MCP servers and models asked for, over the whole run; at most 101 of each `by` and `outcome`',
    ),
});
export type NetworkUse = z.infer<typeof NetworkUse>;

/** Maximum number of hosts counted separately, of each asker and outcome; the rest are counted together. */
const MAX_HOSTS = 100;
const OTHERS = 'other hosts';
const MORE = `Only the first ${MAX_HOSTS} hosts are listed separately.`;

/** The host under which a use is counted, where those of `known` are counted already. */
export function countedAs<Use extends RefusedHost>(
  use: Use,
  known: { has(host: string): boolean; size: number },
): Use {
  if (known.has(use.host) || known.size < MAX_HOSTS) return use;
  return { ...use, host: OTHERS, why: MORE, allow: null };
}

/** The same and more, in the order in which they were first asked for. */
export function withUses(before: readonly HostUse[], more: readonly HostUse[]): HostUse[] {
  const uses = [...before];
  for (const one of more) {
    const alike = uses.filter(({ by, outcome }) => by === one.by && outcome === one.outcome);
    const { host, by, outcome, times, why, allow } = countedAs(one, new Set(alike.map((use) => use.host)));
    const known = alike.find((use) => use.host === host);
    const use = { host, by, outcome, times: (known?.times ?? 0) + times, why, allow };
    if (known === undefined) uses.push(use);
    else uses[uses.indexOf(known)] = use;
  }
  return uses;
}

/** The hosts among them that were refused to commands. */
export function refusedToCommands(uses: readonly HostUse[]): HostUse[] {
  return uses.filter(({ by, outcome }) => outcome === 'refused' && (by === 'command' || by === 'mcp'));
}
