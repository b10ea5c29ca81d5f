import { networkInterfaces } from 'node:os';
import { expect, test } from 'vitest';
import { addressKind } from '../../../src/adapters/network/public-address.ts';

const isPublic = (address: string) => addressKind(address) === 'public';

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '169.254.170.2',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.251',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:a00:1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%lo',
  'ff02::1',
  'localhost',
  '',
  '0177.0.0.1',
  '2130706433',
])('commands are not connected to %s', (address) => expect(isPublic(address)).toBe(false));

test.each(['8.8.8.8', '1.1.1.1', '104.16.1.34', '172.32.0.1', '2606:4700::6810:122', '2a04:4e42::223'])(
  'commands may be connected to %s',
  (address) => expect(isPublic(address)).toBe(true),
);

test("this machine's own addresses are not public", () => {
  const own = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
  expect(own.filter(isPublic)).toEqual([]);
});
