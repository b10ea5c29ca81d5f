/** The refusal sent to a client, worded to end up in the output of its command. */

import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { REFUSED } from '../../domain/review/denial-signs.ts';

/** Most clients print the status line and drop the body, so both contain the reason. */
export function refuseConnection(socket: Duplex, code: number, reason: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const text = textOf(reason);
  const head = [
    `HTTP/1.1 ${code} ${text}`,
    'Content-Type: text/plain',
    `Content-Length: ${text.length + 1}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}\n`);
}

/** Answers a plain HTTP request with a refusal and ends the connection. */
export function refuseRequest(response: ServerResponse, code: number, reason: string): void {
  const text = textOf(reason);
  response.writeHead(code, text, { 'content-type': 'text/plain', connection: 'close' });
  response.end(`${text}\n`);
}

/** Text that is valid in a status line: ASCII on one line. */
function textOf(reason: string): string {
  return `${REFUSED}${reason}`.replace(/[^\x20-\x7e]/g, '.');
}
