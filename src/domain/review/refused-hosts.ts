/** The hosts that commands asked for and did not get. */

import * as z from 'zod';
import { flagFor } from './allowed-domain.ts';

const RefusedEntry = z.strictObject({
  host: z.string().describe('As it was asked for, shortened where it is long'),
  times: z.int().positive(),
  why: z.string().default('').describe('As the command was told'),
  allow: z.string().nullable().default(null).describe('The flag that allows it; null where none does'),
});
/** A host that was refused to commands. */
export type RefusedHost = z.infer<typeof RefusedEntry>;

/** The same, with the calls whose commands were running at that moment, or the setup and verify commands that were. */
export const HostRefusal = RefusedEntry.extend({
  calls: z.array(z.string()),
  commands: z.array(z.string()).optional(),
});
export type HostRefusal = z.infer<typeof HostRefusal>;

/** Path at the proxy by which the relay tells it of a host that was looked up; the name follows. */
export const LOOKED_UP = '/looked-up/';

/** A host whose name a program asked for by itself, past the proxy. */
export function lookedUpHost(host: string): RefusedHost {
  const allow = flagFor({ host, port: 443 }, false);
  const why = `${host} was looked up without the proxy, and there is no name server; for programs that use HTTPS_PROXY: ${allow}`;
  return { host, times: 1, why, allow };
}

/** What the result says about the network. */
export const NetworkUse = z.strictObject({
  allowed: z.array(z.string()).describe('Hosts that commands may reach; none means no network at all'),
  refused: z
    .array(RefusedEntry)
    .describe(
      'What commands asked for in vain, over the whole run: hosts that the proxy refused, and names that commands looked up past it; at most 101 entries',
    ),
});
export type NetworkUse = z.infer<typeof NetworkUse>;

/** Maximum number of hosts counted separately; the rest are counted together. */
const MAX_HOSTS = 100;
const OTHERS = 'other hosts';
const MORE = `Only the first ${MAX_HOSTS} hosts are listed separately.`;

/** The host under which a refusal is counted, where those of `known` are counted already. */
export function countedAs(
  refused: RefusedHost,
  known: { has(host: string): boolean; size: number },
): RefusedHost {
  if (known.has(refused.host) || known.size < MAX_HOSTS) return refused;
  return { host: OTHERS, times: refused.times, why: MORE, allow: null };
}

/** The same and more, in the order in which they were first refused. */
export function withRefused(before: readonly RefusedHost[], more: readonly RefusedHost[]): RefusedHost[] {
  const hosts = new Map(before.map((refused) => [refused.host, refused]));
  for (const one of more) {
    const { host, times, why, allow } = countedAs(one, hosts);
    hosts.set(host, { host, times: (hosts.get(host)?.times ?? 0) + times, why, allow });
  }
  return [...hosts.values()];
}
