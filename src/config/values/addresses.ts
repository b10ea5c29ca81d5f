/** Addresses of APIs. They may contain passwords, so messages do not repeat them. */

import * as z from 'zod';
import { withoutTail } from '../../domain/text/shorten.ts';

/** An https address; http only for this machine, so that the key never crosses a network unencrypted. */
export function apiAddress() {
  return address('an https address without user name or query (http only to this machine)', (given) =>
    isApiAddress(given) ? withoutTail(given, '/') : null,
  );
}

/** The same, and plain http to anywhere: whether that is wanted is for another setting to say. */
export function modelAddress() {
  const expected = "an http(s) address without user name or query (but Azure's ?api-version=)";
  return address(expected, (given) => {
    // Azure has no other place for the version of its API.
    const [, plain = '', version = ''] = /^(.*?)(\?api-version=[\w.-]+)?$/s.exec(given) ?? [];
    return isApiAddress(plain) || isPlainHttp(plain) ? withoutTail(plain, '/') + version : null;
  });
}

/** The value may hold a password, so the message does not repeat it. */
function address(expected: string, parse: (given: string) => string | null) {
  return z.unknown().transform((given, context) => {
    const parsed = typeof given === 'string' ? parse(given) : null;
    if (parsed !== null) return parsed;
    context.addIssue({ code: 'custom', message: `expected ${expected}` });
    return z.NEVER;
  });
}

/** An address to which a key goes in the clear, on a network that others may share. */
export function isPlainHttp(address: string): boolean {
  const [plain = ''] = address.split('?', 1);
  return isAddress(plain) && !isApiAddress(plain) && new URL(plain).protocol === 'http:';
}

function isAddress(given: string): boolean {
  if (!URL.canParse(given)) return false;
  const { username, password, search, hash } = new URL(given);
  return [username, password, search, hash].every((part) => part === '');
}

function isApiAddress(given: string): boolean {
  if (!isAddress(given)) return false;
  const url = new URL(given);
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && local);
}
