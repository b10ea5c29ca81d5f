/** Keeps secret values out of everything that is written, logged or sent to the model. */

import type { Excerpt } from '../conversation/excerpt.ts';
import type { Environment } from '../environment.ts';
import { listedPairs, percentDecoded } from '../text/uri.ts';
import type { FindKnown } from './secret-scan.ts';
import { type FoundPlace, holdsHeaders, isSecretName, withoutTokens } from './token-formats.ts';

/** Shorter values would blank out ordinary text, and are not hidden. */
export const MIN_SECRET_LENGTH = 8;

const HIDDEN = '***';

/**
 * Replaces every known secret value, including its JSON-escaped, URL-encoded, base64 and hex forms, and anything with the
 * form of a well-known token.
 */
export type Redact = (text: string) => string;

/** A password in an address; it may contain an unencoded `@`. */
const PASSWORDS = [/:\/\/[^/\s:@]*:([^/\s@]+)@/g, /:\/\/[^/\s:@]*:([^/\s]+)@/g];

/**
 * The secrets of an environment: values of variables with telling names, and passwords in addresses, also in decoded form.
 */
export function secretsAmong(env: Environment): string[] {
  return Object.entries(env).flatMap(([name, value = '']) => [
    ...(isSecretName(name) ? [value] : []),
    ...(holdsHeaders(name) ? headerSecrets(value) : []),
    ...passwordsIn(/_proxy$/i.test(name) && !value.includes('://') ? `http://${value}` : value),
  ]);
}

/** Each value, and what follows the name of a scheme in it: `Bearer …`. */
function headerSecrets(headers: string): string[] {
  return listedPairs(headers).flatMap(([, value]) => [value, ...value.split(' ').slice(-1)]);
}

function passwordsIn(value: string): Set<string> {
  const found = PASSWORDS.flatMap((pattern) => [...value.matchAll(pattern)].map(([, text = '']) => text));
  return new Set(found.flatMap((password) => [password, percentDecoded(password)]));
}

/** A multi-line secret is also redacted line by line. Values under 8 characters are not redacted. */
export function redactorFor(secrets: readonly string[]): Redact {
  const known = knownForms(secrets);
  if (known === null) return (text) => withoutTokens(text, HIDDEN);
  return (text) =>
    // Every form of a secret is at least as long, and so is every token; most strings of an event are names.
    text.length < MIN_SECRET_LENGTH
      ? text
      : withoutTokens(withoutWrapped(text.replace(known, HIDDEN), known), HIDDEN);
}

/** The same for a list of secrets that grows while texts are redacted; nothing may be taken from it. */
export function redactorForGrowing(secrets: readonly string[]): Redact {
  let made: { redact: Redact; known: number } | null = null;
  return (text) => {
    if (made?.known !== secrets.length) made = { redact: redactorFor(secrets), known: secrets.length };
    return made.redact(text);
  };
}

/** Returns where known values, in any of the redacted forms, are in a text. */
export function knownSecretFinder(secrets: readonly string[]): FindKnown {
  const known = knownForms(secrets);
  return (text) => (known === null ? [] : [formsIn(text, known), wrappedIn(text, known)]);
}

function* formsIn(text: string, known: RegExp): Generator<FoundPlace> {
  for (const { 0: form, index } of text.matchAll(known)) yield { index, length: form.length };
}

/**
 * Removes secrets from an excerpt before it is cut further. If something has already been cut out, the words at the cut are
 * removed too, since they may be halves of a secret.
 */
export function redactedExcerpt({ head, omitted, tail }: Excerpt, redact: Redact): Excerpt {
  const last = omitted > 0 ? (head.slice(-1024).split(/\s/).at(-1)?.length ?? 0) : 0;
  const first = omitted > 0 ? (/^\S{0,1024}/.exec(tail)?.[0].length ?? 0) : 0;
  return {
    head: redact(head.slice(0, head.length - last)),
    omitted: omitted + last + first,
    tail: redact(tail.slice(first)),
  };
}

/**
 * JSON in which every string, including field names, was redacted before serialisation: numbers and structure stay intact,
 * whatever the secrets are.
 */
export function redactedJson(value: unknown, redact: Redact, indent?: number): string {
  return JSON.stringify(redactedStrings(value, redact), null, indent);
}

/** The same value if there was nothing to redact, otherwise a copy. */
export function redactedStrings(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const parts = value.map((part) => redactedStrings(part, redact));
    return parts.every((part, at) => part === value[at]) ? value : parts;
  }
  let changed = false;
  const fields = Object.entries(value).map(([name, part]) => {
    const field = [redact(name), redactedStrings(part, redact)] as const;
    changed ||= field[0] !== name || field[1] !== part;
    return field;
  });
  return changed ? Object.fromEntries(fields) : value;
}

function knownForms(secrets: readonly string[]): RegExp | null {
  const forms = secretForms(secrets);
  if (forms.length === 0) return null;
  return new RegExp(forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
}

/** Every text that stands for one of the secrets. Longest first, so that a secret that contains another is replaced as a whole. */
function secretForms(secrets: readonly string[]): string[] {
  const forms = new Set<string>();
  for (const secret of secrets.flatMap((value) => [value, value.trim(), ...value.split(/\r?\n/)])) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    for (const form of [secret, ...escapedForms(secret), ...encodedForms(secret)]) forms.add(form);
  }
  return [...forms].sort((a, b) => b.length - a.length);
}

function escapedForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  // Lone surrogates become replacement characters.
  const wellFormed = new TextDecoder().decode(new TextEncoder().encode(secret));
  const url = encodeURIComponent(wellFormed);
  // Some encoders escape these characters too.
  const strict = url.replace(/[!'()*~]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const urls = [url, strict, url.replaceAll('%20', '+'), strict.replaceAll('%20', '+')];
  const small = urls.map((text) => text.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
  return [
    json,
    json.replaceAll('/', '\\/'),
    ...jsonInCodes(json, /[^ -~]/g),
    // As written by PHP, Go and .NET.
    ...jsonInCodes(json.replaceAll('/', '\\/'), /[^ -~]/g),
    ...jsonInCodes(json, /[<>&\u2028\u2029]/g),
    ...jsonInCodes(json.replaceAll('\\"', '"'), /[^ -~]|["'`<>&+]/g),
    JSON.stringify(json).slice(1, -1),
    ...urls,
    ...small,
  ];
}

/** With these characters as escape codes, in lower and in upper case. */
function jsonInCodes(json: string, characters: RegExp): string[] {
  const code = (unit: string) => unit.charCodeAt(0).toString(16).padStart(4, '0');
  return [
    json.replace(characters, (unit) => `\\u${code(unit)}`),
    json.replace(characters, (unit) => `\\u${code(unit).toUpperCase()}`),
  ];
}

function encodedForms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [hex, hex.toUpperCase(), ...base64, ...urlSafe];
}

/** The characters that are determined by these bytes alone, whatever surrounds them, after `before` mod 3 other bytes. */
function base64Within(bytes: Uint8Array, before: number): string {
  const text = btoa(String.fromCharCode(...new Uint8Array(before), ...bytes));
  return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
}

/** Base64 and hex are often wrapped. A block that contains a secret across line endings is hidden as a whole. */
function withoutWrapped(text: string, known: RegExp): string {
  return [...wrappedIn(text, known)].reduceRight(
    (rest, { index, length }) => rest.slice(0, index) + HIDDEN + rest.slice(index + length),
    text,
  );
}

/** Lines that contain only base64 or hex, at least 40 characters each but for the last. */
function* wrappedIn(text: string, known: RegExp): Generator<FoundPlace> {
  let [start, end, flat] = [0, 0, ''];
  for (let at = 0; at <= text.length; ) {
    const newline = text.indexOf('\n', at);
    const next = newline === -1 ? text.length : newline;
    const line = text.slice(at, next).trim();
    const isFull = line.length >= 40 && !/[^\w+/-]/.test(line);
    if (flat === '') start = at;
    if (isFull || (flat !== '' && line !== '' && !/[^\w+/=-]/.test(line))) [flat, end] = [flat + line, next];
    at = next + 1;
    if (isFull && newline !== -1) continue;
    if (flat.search(known) >= 0) yield { index: start, length: end - start };
    flat = '';
  }
}
