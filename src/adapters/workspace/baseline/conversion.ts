/**
 * What git does to a file's content when it stores it: line endings, `$Id$` and encodings. The rules are those of git's own
 * `convert.c` (crlf_to_git, gather_stats, ident_to_git), without its external filters.
 */

import type { Failed } from '../../../domain/failed.ts';
import type { UserSettings } from '../../../git/user-settings.ts';
import { toUtf8 } from './working-tree-encoding.ts';

/** Attributes that determine how a path's content is converted. */
export const CONTENT_ATTRIBUTES = [
  'text',
  'crlf',
  'eol',
  'ident',
  'filter',
  'working-tree-encoding',
] as const;

/** One of the attributes that change a file's contents on the way into git. */
export type ContentAttribute = (typeof CONTENT_ATTRIBUTES)[number];

/** The value of an attribute as `git check-attr` prints it: `set`, `unset`, `unspecified` or a text. */
export type AttributeOf = (name: ContentAttribute) => string;

/** How one path's content is converted. `auto`: line endings are converted only if the content looks like text. */
export interface Conversion {
  readonly lineEndings: 'keep' | 'auto' | 'text';
  readonly ident: boolean;
  /** Encoding in the work tree; null if it is not converted. */
  readonly encoding: string | null;
  /**
   * Name of a filter that git would run and we never do; null if there is none. `lfs` counts even if it is not configured.
   */
  readonly filter: string | null;
}

/** For a file that git stores byte for byte. */
export const NO_CONVERSION: Conversion = { lineEndings: 'keep', ident: false, encoding: null, filter: null };

/** The conversion that attributes and settings call for. */
export function conversionFor(attributeOf: AttributeOf, settings: UserSettings): Conversion {
  const encoding = attributeOf('working-tree-encoding');
  const filter = attributeOf('filter');
  return {
    lineEndings: lineEndings(attributeOf) ?? (settings.autocrlf === 'false' ? 'keep' : 'auto'),
    ident: attributeOf('ident') === 'set',
    encoding: isText(encoding) && !/^utf-?8$/i.test(encoding) ? encoding : null,
    filter: filter === 'lfs' || settings.filters.has(filter) ? filter : null,
  };
}

function lineEndings(attributeOf: AttributeOf): Conversion['lineEndings'] | null {
  const said = crlfAction(attributeOf('text')) ?? crlfAction(attributeOf('crlf'));
  if (said !== null) return said;
  // An explicit line ending makes the path text, whatever autocrlf says.
  return ['lf', 'crlf'].includes(attributeOf('eol')) ? 'text' : null;
}

function crlfAction(value: string): Conversion['lineEndings'] | null {
  if (value === 'set' || value === 'input') return 'text';
  if (value === 'unset') return 'keep';
  return value === 'auto' ? 'auto' : null;
}

function isText(attribute: string): boolean {
  return !['set', 'unset', 'unspecified', ''].includes(attribute);
}

/** A file's contents as git would store them. */
export type Converted =
  | { status: 'ok'; bytes: Buffer }
  /** It depends on whether the index stores the path with CRLF; call again with `crlfInIndex`. */
  | { status: 'ask_index' }
  | Failed;

/** Converts whole contents. `crlfInIndex` is null if unknown. */
export function toGit(raw: Buffer, conversion: Conversion, crlfInIndex: boolean | null): Converted {
  let bytes = raw;
  if (conversion.encoding !== null) {
    const decoded = toUtf8(raw, conversion.encoding);
    if (decoded.status === 'failed') return decoded;
    bytes = decoded.bytes;
  }
  if (conversion.lineEndings !== 'keep' && bytes.length > 0) {
    const stats = new TextStats();
    stats.add(bytes);
    const turn = turnsLineEndings(stats, conversion.lineEndings, crlfInIndex);
    if (turn === 'ask_index') return { status: 'ask_index' };
    if (turn) bytes = withoutCr(bytes);
  }
  return { status: 'ok', bytes: conversion.ident ? collapseIdent(bytes) : bytes };
}

/** Whether CRLF becomes LF in content with these statistics. */
export function turnsLineEndings(
  stats: TextStats,
  rule: Conversion['lineEndings'],
  crlfInIndex: boolean | null,
): boolean | 'ask_index' {
  if (rule === 'keep' || stats.crlf === 0) return false;
  if (rule === 'text') return true;
  if (stats.looksBinary()) return false;
  return crlfInIndex === null ? 'ask_index' : !crlfInIndex;
}

/** Counts what distinguishes text from binary content. Chunks may be cut anywhere. */
export class TextStats {
  crlf = 0;
  #loneCr = 0;
  #nul = 0;
  #printable = 0;
  #nonPrintable = 0;
  #last = -1;

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#last === CR) {
        if (byte === LF) this.crlf += 1;
        else this.#loneCr += 1;
      }
      if (byte === 127) this.#nonPrintable += 1;
      else if (byte >= 32) this.#printable += 1;
      else if (byte === 0) {
        this.#nul += 1;
        this.#nonPrintable += 1;
      } else if (byte === 8 || byte === 9 || byte === 12 || byte === 27) this.#printable += 1;
      else if (byte !== CR && byte !== LF) this.#nonPrintable += 1;
      this.#last = byte;
    }
  }

  looksBinary(): boolean {
    // At the very end, the old end-of-file character does not indicate binary content.
    const nonPrintable = this.#nonPrintable - (this.#last === CTRL_Z ? 1 : 0);
    const endsInCr = this.#last === CR;
    return this.#loneCr > 0 || endsInCr || this.#nul > 0 || Math.floor(this.#printable / 128) < nonPrintable;
  }
}

const CR = 13;
const LF = 10;
const CTRL_Z = 26;

/** Drops each CR before an LF. Content that was guessed to be text has no other CR. */
function withoutCr(bytes: Buffer): Buffer {
  const kept = Buffer.allocUnsafe(bytes.length);
  let length = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === CR && bytes[at + 1] === LF) continue;
    kept[length] = byte;
    length += 1;
  }
  return kept.subarray(0, length);
}

/** The same for a stream; a CR at the end of a chunk waits for the next one. */
export async function* streamWithoutCr(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk;
    const endsInCr = bytes.at(-1) === CR;
    held = endsInCr ? Buffer.of(CR) : Buffer.alloc(0);
    yield withoutCr(endsInCr ? bytes.subarray(0, -1) : bytes);
  }
  yield held;
}

/** Replaces `$Id: … $` on one line by `$Id$`. */
function collapseIdent(bytes: Buffer): Buffer {
  const text = bytes.toString('latin1');
  const parts: string[] = [];
  let from = 0;
  for (let at = text.indexOf('$Id:'); at >= 0; at = text.indexOf('$Id:', Math.max(from, at + 1))) {
    const end = text.indexOf('$', at + 4);
    if (end < 0) break;
    if (text.slice(at, end).includes('\n')) continue;
    parts.push(text.slice(from, at), '$Id$');
    from = end + 1;
  }
  if (parts.length === 0) return bytes;
  return Buffer.from(parts.join('') + text.slice(from), 'latin1');
}
