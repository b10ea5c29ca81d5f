import { once } from 'node:events';
import { connect as connectTcp, createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readClientHello } from '../../../src/adapters/network/client-hello.ts';
import { randomCases } from '../../support/setup/sample.ts';

/** The first bytes that node's own TLS client sends. */
async function helloFor(servername: string): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const socket = connectTcp({
    port: typeof address === 'object' ? (address?.port ?? 0) : 0,
    host: '127.0.0.1',
  });
  const client = connectTls({ socket, servername });
  client.on('error', () => client.destroy());
  const [accepted] = await once(server, 'connection');
  const [bytes] = await once(accepted, 'data');
  client.destroy();
  accepted.destroy();
  server.close();
  return bytes;
}

/** The same handshake message in records of `size` bytes. */
function inRecords(hello: Buffer, size: number): Buffer {
  const body = hello.subarray(5);
  const records: Buffer[] = [];
  for (let at = 0; at < body.length; at += size) {
    const part = body.subarray(at, at + size);
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part);
  }
  return Buffer.concat(records);
}

/** The same hello with one more extension of a type. */
function withExtension(hello: Buffer, type: number, body: Buffer): Buffer {
  const added = Buffer.concat([
    Buffer.from([type >> 8, type & 255, body.length >> 8, body.length & 255]),
    body,
  ]);
  let at = 5 + 4 + 2 + 32;
  at += 1 + hello.readUInt8(at);
  at += 2 + hello.readUInt16BE(at);
  at += 1 + hello.readUInt8(at);
  const copy = Buffer.concat([hello, added]);
  copy.writeUInt16BE(copy.readUInt16BE(at) + added.length, at);
  copy.writeUIntBE(copy.readUIntBE(6, 3) + added.length, 6, 3);
  copy.writeUInt16BE(copy.readUInt16BE(3) + added.length, 3);
  return copy;
}

test('the requested server name is read from the hello, whole or in small records', async () => {
  const hello = await helloFor('Registry.Example.com');
  const named = { status: 'ok', serverName: 'registry.example.com', end: hello.length };
  expect(readClientHello(hello)).toEqual(named);
  const many = inRecords(hello, 7);
  expect(readClientHello(many)).toEqual({ ...named, end: many.length });
  expect(readClientHello(Buffer.concat([hello, Buffer.from('more')]))).toEqual(named);
});

test('every beginning of a hello waits for the rest', async () => {
  const hello = await helloFor('registry.example.com');
  for (let length = 0; length < hello.length; length++) {
    expect(readClientHello(hello.subarray(0, length)), String(length)).toEqual({ status: 'incomplete' });
  }
});

test('no name, two names, an encrypted name and no TLS are refused', async () => {
  const hello = await helloFor('registry.example.com');
  const nameless = await helloFor('');
  expect(readClientHello(nameless)).toMatchObject({ status: 'refused' });
  const name = Buffer.from('evil.com');
  const second = Buffer.concat([Buffer.from([0, name.length + 3, 0, 0, name.length]), name]);
  expect(readClientHello(withExtension(hello, 0, second))).toMatchObject({ status: 'refused' });
  expect(readClientHello(withExtension(hello, 0xfe0d, Buffer.alloc(8)))).toMatchObject({ status: 'refused' });
  for (const text of [
    'GET / HTTP/1.1\r\n',
    'SSH-2.0-x\r\n',
    '\x16\x02\x01\x00\x05',
    '\x80\x2e\x01\x03\x01',
  ]) {
    expect(readClientHello(Buffer.from(text, 'latin1'))).toMatchObject({ status: 'refused' });
  }
});

test('a name that some servers read and others do not is refused', async () => {
  const hello = await helloFor('registry.example.com');
  const refused = (bytes: Buffer) => expect(readClientHello(bytes)).toMatchObject({ status: 'refused' });
  // A second message in the record of the first.
  const twice = Buffer.concat([hello, hello.subarray(5)]);
  twice.writeUInt16BE((hello.length - 5) * 2, 3);
  refused(twice);
  // Something behind the extensions, or behind the list of names.
  const longer = Buffer.concat([hello, Buffer.from([0])]);
  longer.writeUInt16BE(longer.readUInt16BE(3) + 1, 3);
  longer.writeUIntBE(longer.readUIntBE(6, 3) + 1, 6, 3);
  refused(longer);
  const nameless = await helloFor('');
  const list = (kind: number, more: number[]) => {
    const name = Buffer.from('registry.example.com');
    return Buffer.concat([Buffer.from([0, name.length + 3, kind, 0, name.length]), name, Buffer.from(more)]);
  };
  expect(readClientHello(withExtension(nameless, 0, list(0, [])))).toMatchObject({ status: 'ok' });
  refused(withExtension(nameless, 0, list(0, [0])));
  refused(withExtension(nameless, 0, list(1, [])));
  // Encrypted names of the drafts.
  for (const type of [0xffce, 0xff02, 0xfe0a]) refused(withExtension(hello, type, Buffer.alloc(8)));
});

test('whatever the bytes, the answer is one of three, and never another name', async () => {
  const hello = await helloFor('registry.example.com');
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), fc.nat(hello.length), (at, byte, length) => {
      const broken = Buffer.from(hello);
      broken[at] = byte;
      expect(['ok', 'incomplete', 'refused']).toContain(readClientHello(broken.subarray(0, length)).status);
    }),
    { numRuns: randomCases(10_000) },
  );
});
