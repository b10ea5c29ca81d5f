/** Explains YAML errors in plain words: the parser's own messages are about tokens and implicit keys. */

import type { ErrorCode } from 'yaml';
import { withoutTail } from '../domain/text/shorten.ts';
import { shown } from './values/value.ts';

/** A complaint of the parser: its code, its own message, and the text that it points at. */
export interface YamlComplaint {
  readonly code: ErrorCode;
  readonly message: string;
  /** From the place of the complaint to the end of its line. */
  readonly rest: string;
}

/** One sentence without a full stop: what is wrong, and how to write it instead. */
export function inWords({ code, message, rest }: YamlComplaint): string {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
      return `a text with ": " in it must be in quotes: ${quoted(rest)}`;
    case 'BAD_SCALAR_START':
      return `a text cannot begin with ${shown(rest[0] ?? '')}; put it in quotes: ${quoted(rest)}`;
    case 'TAG_RESOLVE_FAILED':
      return `tags (!name) are not allowed; if a text begins with !, put it in quotes: ${quoted(rest)}`;
    case 'BAD_ALIAS':
    case 'ALIAS_PROPS':
      return aliasInWords(rest);
    case 'TAB_AS_INDENT':
      return 'indented with a tab; use spaces';
    case 'BAD_INDENT':
      return message.startsWith('Flow')
        ? 'a bracket is opened and not closed; close it, or write one entry a line, each after "- "'
        : 'indented differently from the lines that it belongs to; give them the same number of spaces';
    case 'MULTILINE_IMPLICIT_KEY':
      return 'not of the form "key: value"; write a colon and a space after the key, and the entries of a list on lines of their own';
    case 'MISSING_CHAR':
      return missing(message);
    case 'BAD_DQ_ESCAPE':
      return `a backslash in double quotes starts an escape, but ${shown(rest.slice(0, 2))} is not one; use single quotes, or two backslashes`;
    case 'MULTIPLE_DOCS':
      return 'a second document begins with ---; there can only be one';
    case 'UNEXPECTED_TOKEN':
      return unexpected(message, rest);
    default:
      return `not valid YAML: ${message}`;
  }
}

/** For a text that begins with `*`. */
export function aliasInWords(text: string): string {
  return `aliases (*name) are not allowed; if a text begins with *, put it in quotes: ${shown(/^[^\s,\]}]*/.exec(text)?.[0])}`;
}

function missing(message: string): string {
  if (/quote/.test(message)) return 'a quotation mark is opened and not closed';
  if (/must end with/.test(message))
    return `a bracket is opened and not closed; ${message.slice(-1)} is missing`;
  return 'a key without a value; write "key: value", and "- " with a space before each entry of a list';
}

function unexpected(message: string, rest: string): string {
  if (message.includes('same line with key')) {
    return 'a list cannot begin on the line of its key; write its entries on lines of their own, or in brackets: [a, b]';
  }
  return `${shown(rest)} is not expected here; put the whole value in quotes, or check the brackets and indentation before it`;
}

/** The text as a quoted scalar, up to where a comment or the rest of a list in brackets would begin. */
function quoted(rest: string): string {
  return shown(withoutTail(rest.split(/\s#/, 1)[0] ?? '', ' \t\r\n,]}'));
}
