/**
 * Which addresses commands may connect to: those of the public internet, and private ones for hosts that are allowed
 * by name, but never this machine's or those at which clouds serve credentials.
 */

import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** What an address belongs to. `special`: no host is reached there. */
export type AddressKind = 'public' | 'private' | 'metadata' | 'machine' | 'special';

/** All ranges that are not public, each of them looked at before those below it. */
const RANGES: readonly (readonly [AddressKind, readonly string[]])[] = [
  [
    'metadata',
    [
      // Link-local, and where clouds serve credentials of the machine in ranges that look private, or public.
      ...['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'],
      // AWS, Google, Oracle, Scaleway.
      ...['fe80::/10', 'fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'],
    ],
  ],
  ['machine', ['0.0.0.0/8', '127.0.0.0/8', '::/127']],
  ['private', ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
  [
    'special',
    [
      // IANA's special-purpose registry, multicast and reserved space.
      ...['192.0.0.0/24', '192.0.2.0/24', '192.31.196.0/24', '192.52.193.0/24', '192.88.99.0/24'],
      ...['192.175.48.0/24', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/3'],
      // All but the routed part of IPv6, and what in that is not public or maps to IPv4 addresses.
      ...['::/3', '4000::/2', '8000::/1', '2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'],
    ],
  ],
];

/** What `address` belongs to; `special` for any other text. */
export function addressKind(address: string): AddressKind {
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
  // The first is a second spelling of IPv4, which no resolver needs.
  if (family === null || /^::ffff:/i.test(address)) return 'special';
  const kind = LISTS[family].find(([, list]) => list.check(address, family))?.[0] ?? 'public';
  return kind !== 'metadata' && ownAddresses().has(address) ? 'machine' : kind;
}

const listsOf = (family: 'ipv4' | 'ipv6') =>
  RANGES.map(([kind, ranges]): readonly [AddressKind, BlockList] => {
    const list = new BlockList();
    for (const range of ranges) {
      const [network = '', bits] = range.split('/');
      if (isIPv4(network) === (family === 'ipv4')) list.addSubnet(network, Number(bits), family);
    }
    return [kind, list];
  });

// IPv4 addresses would be found among the IPv6 ranges, as mapped ones.
const LISTS = { ipv4: listsOf('ipv4'), ipv6: listsOf('ipv6') };

/** A service of this machine does not become public by listening on a public interface. */
function ownAddresses(): Set<string> {
  return new Set(
    Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []),
  );
}
