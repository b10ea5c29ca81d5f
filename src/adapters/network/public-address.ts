/**
 * Which addresses commands may connect to: those of the public internet, and private ones for hosts that are allowed
 * by name, but never this machine's or those at which clouds serve credentials.
 */

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** IANA's special-purpose registry, multicast and reserved space, and where clouds serve credentials. */
const NOT_PUBLIC_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  // Azure's platform service, at an address that looks public.
  '168.63.129.16/32',
];

/** The routed part of IPv6, and what in it is not public or maps to IPv4 addresses. */
const PUBLIC_V6 = '2000::/3';
const NOT_PUBLIC_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

/** True for an address on the public internet that is not this machine's own; false for any other text. */
export function isPublicAddress(address: string): boolean {
  if (ownAddresses().has(address)) return false;
  if (isIPv4(address)) return !CLOSED.check(address, 'ipv4');
  return isIPv6(address) && ROUTED.check(address, 'ipv6') && !CLOSED.check(address, 'ipv6');
}

/** What an address belongs to. `special`: no host is reached there. */
export type AddressKind = 'public' | 'private' | 'metadata' | 'machine' | 'special';

/** What `address` belongs to; `special` for any other text. */
export function addressKind(address: string): AddressKind {
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
  if (family === null) return 'special';
  // A second spelling of IPv4, which no resolver needs.
  if (/^::ffff:/i.test(address)) return 'special';
  if (METADATA.check(address, family)) return 'metadata';
  if (ownAddresses().has(address) || MACHINE.check(address, family)) return 'machine';
  if (isPublicAddress(address)) return 'public';
  return PRIVATE.check(address, family) ? 'private' : 'special';
}

/** Link-local, and where clouds serve credentials of the machine in ranges that look private, or public. */
const METADATA = blockList(
  ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
  // AWS, Google, Oracle, Scaleway.
  ['fe80::/10', 'fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'],
);
const MACHINE = blockList(['0.0.0.0/8', '127.0.0.0/8'], ['::/127']);
const PRIVATE = blockList(['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'], ['fc00::/7']);
const CLOSED = blockList(NOT_PUBLIC_V4, NOT_PUBLIC_V6);
const ROUTED = blockList([], [PUBLIC_V6]);

/** A service of this machine does not become public by listening on a public interface. */
function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  );
}

function blockList(v4: readonly string[], v6: readonly string[]): BlockList {
  const list = new BlockList();
  for (const [ranges, family] of [
    [v4, 'ipv4'],
    [v6, 'ipv6'],
  ] as const) {
    for (const range of ranges) {
      const [network = '', bits] = range.split('/');
      list.addSubnet(network, Number(bits), family);
    }
  }
  return list;
}
