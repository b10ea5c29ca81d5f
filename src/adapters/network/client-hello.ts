/** Reads the server name that a TLS client requests from the first bytes it sends (RFC 8446 §4.1.2, RFC 6066 §3). */

/**
 * `incomplete`: more bytes are needed. `end` is where the records of the hello end. `problem` ends a sentence about the
 * connection.
 */
export type Hello =
  | { status: 'incomplete' }
  | { status: 'ok'; serverName: string; end: number }
  | { status: 'refused'; problem: string };

/** A client's hello with post-quantum keys is about 2 KiB; no client needs more than this. */
const MAX_HELLO_BYTES = 16 * 1024;

/** Of an encrypted record. */
const MAX_RECORD_BYTES = 2 ** 14 + 256;

const CHANGE_CIPHER_SPEC = 20;
/** Types of records. */
export const ALERT = 21;
/** A record that carries a part of a handshake. */
export const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const CLIENT_HELLO = 1;
const SERVER_NAME = 0;
const HOST_NAME = 0;

/** Encrypted hellos and encrypted names, as defined in RFC 9849 and its drafts. */
const ENCRYPTED_HELLOS: readonly number[] = [
  0xfe0d, 0xfe0c, 0xfe0b, 0xfe0a, 0xfe09, 0xfe08, 0xff03, 0xff02, 0xffce,
];

/** Reads the host that a TLS client requests from the first bytes of a connection, or reports that more bytes are needed. */
export function readClientHello(bytes: Buffer): Hello {
  const message = handshakeIn(bytes);
  if (message === 'not TLS') return { status: 'refused', problem: 'it does not speak TLS' };
  if (message === 'more in its record')
    return { status: 'refused', problem: 'its TLS hello shares a record with what follows it' };
  if (message === 'incomplete') {
    return bytes.length < MAX_HELLO_BYTES
      ? { status: 'incomplete' }
      : { status: 'refused', problem: 'its TLS hello is too long' };
  }
  try {
    return serverNameIn(new Cursor(message.body), message.end);
  } catch (error) {
    if (error instanceof RangeError) return { status: 'refused', problem: 'its TLS hello is malformed' };
    throw error;
  }
}

/**
 * The body of the first handshake message, assembled from as many records as it spans. A client sends nothing after
 * its hello until it is answered; a server could mistake anything else in the same record for a second hello.
 */
function handshakeIn(
  bytes: Buffer,
): { body: Buffer; end: number } | 'incomplete' | 'not TLS' | 'more in its record' {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === 'incomplete' || record === 'not TLS') return record;
    const { type, content, end } = record;
    if (type !== HANDSHAKE || end === at + 5) return 'not TLS';
    const before = parts.reduce((sum, part) => sum + part.length, 0);
    parts.push(content);
    const message = Buffer.concat(parts);
    if (message.length > 0 && message[0] !== CLIENT_HELLO) return 'not TLS';
    const needed = message.length < 4 ? Number.POSITIVE_INFINITY : 4 + message.readUIntBE(1, 3);
    if (before + end - at - 5 > needed) return 'more in its record';
    if (bytes.length < end) return 'incomplete';
    at = end;
    if (message.length === needed) return { body: message.subarray(4), end };
  }
}

/** The record at a position; `content` is as much of it as has arrived. */
export function recordAt(
  bytes: Buffer,
  at: number,
): { type: number; content: Buffer; end: number } | 'incomplete' | 'not TLS' {
  const type = bytes[at];
  if (type === undefined) return 'incomplete';
  if (type < CHANGE_CIPHER_SPEC || type > APPLICATION_DATA) return 'not TLS';
  if (bytes.length > at + 1 && bytes[at + 1] !== 3) return 'not TLS';
  if (bytes.length < at + 5) return 'incomplete';
  const length = bytes.readUInt16BE(at + 3);
  if (length > MAX_RECORD_BYTES) return 'not TLS';
  return { type, content: bytes.subarray(at + 5, at + 5 + length), end: at + 5 + length };
}

function serverNameIn(hello: Cursor, end: number): Hello {
  hello.skip(2 + 32);
  hello.take(1);
  hello.take(2);
  hello.take(1);
  const extensions = hello.take(2);
  hello.end();
  const names: string[] = [];
  while (!extensions.done) {
    const type = extensions.number(2);
    const body = extensions.take(2);
    // The server would decrypt it, and it may name another host.
    if (ENCRYPTED_HELLOS.includes(type)) {
      return { status: 'refused', problem: 'it encrypts the name of the server it asks for (ECH)' };
    }
    if (type === SERVER_NAME) names.push(...namesIn(body));
  }
  const [serverName, ...more] = names;
  return serverName === undefined || more.length > 0
    ? { status: 'refused', problem: 'it does not say which one server it asks for (SNI)' }
    : { status: 'ok', serverName: serverName.toLowerCase(), end };
}

function namesIn(body: Cursor): string[] {
  const list = body.take(2);
  body.end();
  const names: string[] = [];
  while (!list.done) {
    // A server ignores an unknown kind of name, and answers as if none had been given.
    if (list.number(1) !== HOST_NAME) throw new RangeError('The name is not one of a host.');
    names.push(list.take(2).text());
  }
  return names;
}

/** Reads forward; throws RangeError where the bytes end too early. */
class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  /** Some implementations would read on here, and others would not. */
  end(): void {
    if (!this.done) throw new RangeError('The message ends too late.');
  }

  skip(count: number): void {
    if (this.#at + count > this.#bytes.length) throw new RangeError('The message ends too early.');
    this.#at += count;
  }

  number(width: number): number {
    this.skip(width);
    return this.#bytes.readUIntBE(this.#at - width, width);
  }

  /** What follows a length of `width` bytes. */
  take(width: number): Cursor {
    const length = this.number(width);
    this.skip(length);
    return new Cursor(this.#bytes.subarray(this.#at - length, this.#at));
  }

  text(): string {
    return this.#bytes.toString('latin1');
  }
}
