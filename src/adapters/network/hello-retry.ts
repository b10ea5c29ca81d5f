/**
 * What happens between a TLS client's first hello and the keys. A server may request a second hello
 * (HelloRetryRequest, RFC 8446 §4.1.4), in which a client could name another host: servers read the name again, and
 * not all compare it.
 */

import { type Hello, readClientHello } from './client-hello.ts';

/** `retry`: the server requests another hello. `answered`: it accepted the one it got, or closes with an alert. */
export type ServerAnswer = 'incomplete' | 'retry' | 'answered' | 'not TLS';

const CHANGE_CIPHER_SPEC = 20;
const ALERT = 21;
const HANDSHAKE = 22;
const APPLICATION_DATA = 23;
const WARNING = 1;
const SERVER_HELLO = 2;
const MAX_RECORD_BYTES = 2 ** 14 + 256;

/** A server that requests another hello sends this instead of its random bytes: SHA-256 of "HelloRetryRequest". */
const RETRY = Buffer.from('cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c', 'hex');
/**
 * Maximum bytes that may precede it: early data from a client, within the limit of most servers, or warnings from a
 * server.
 */
const MAX_BEFORE_BYTES = 20 * 1024;

const RANDOM_AT = 4 + 2;
const ANSWER_BYTES = RANDOM_AT + RETRY.length;

/** Examines the beginning of what a server sends. */
export function readServerAnswer(bytes: Buffer): ServerAnswer {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === 'incomplete' || record === 'not TLS') return record;
    const { type, content, end } = record;
    if (type === ALERT) {
      if (content.length > 0 && content[0] !== WARNING) return 'answered';
    } else if (type === HANDSHAKE) {
      parts.push(content);
      const message = Buffer.concat(parts);
      if (message.length > 0 && message[0] !== SERVER_HELLO) return 'not TLS';
      if (message.length >= ANSWER_BYTES)
        return message.subarray(RANDOM_AT, ANSWER_BYTES).equals(RETRY) ? 'retry' : 'answered';
    } else return 'not TLS';
    if (end > MAX_BEFORE_BYTES) return 'not TLS';
    if (bytes.length < end) return 'incomplete';
    at = end;
  }
}

/** The second hello of a client; `end` is relative to the beginning of `bytes`. */
export function readSecondHello(bytes: Buffer): Hello {
  for (let at = 0; ; ) {
    const record = recordAt(bytes, at);
    if (record === 'incomplete') return { status: 'incomplete' };
    if (record === 'not TLS') return { status: 'refused', problem: 'it does not speak TLS' };
    if (record.type === HANDSHAKE) {
      const hello = readClientHello(bytes.subarray(at));
      return hello.status === 'ok' ? { ...hello, end: at + hello.end } : hello;
    }
    if (![CHANGE_CIPHER_SPEC, ALERT, APPLICATION_DATA].includes(record.type) || record.end > MAX_BEFORE_BYTES)
      return { status: 'refused', problem: "it does not answer its server's HelloRetryRequest" };
    if (bytes.length < record.end) return { status: 'incomplete' };
    at = record.end;
  }
}

/** The record at a position; `content` is as much of it as has arrived. */
function recordAt(
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
