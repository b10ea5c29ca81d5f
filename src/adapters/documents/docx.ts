/** The text of a Word document (.docx): its paragraphs, with headings, lists and tables as Markdown has them. */

import { inflateRawSync } from 'node:zlib';
import { Tokenizer } from 'parse5';

/** The part of the archive that holds the text. */
const DOCX_TEXT = 'word/document.xml';

const MAX_XML_BYTES = 64 * 1024 * 1024;

/** Throws RangeError if there is no such part, or if it is too large. Omits headers, footnotes and comments. */
export function docxText(bytes: Buffer): string {
  const xml = unzip(bytes, DOCX_TEXT, MAX_XML_BYTES);
  if (xml === null) throw new RangeError('It has no text.');
  const text = new DocxText();
  // Element names have prefixes that HTML does not know, so no HTML rules apply to them.
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: ({ tagName, attrs, selfClosing }) => {
        text.open(localName(tagName), attrs.find(({ name }) => localName(name) === 'val')?.value ?? '');
        if (selfClosing) text.close(localName(tagName));
      },
      onEndTag: ({ tagName }) => text.close(localName(tagName)),
      onCharacter: ({ chars }) => text.add(chars),
      onWhitespaceCharacter: ({ chars }) => text.add(chars),
      onNullCharacter: () => undefined,
      onComment: () => undefined,
      onDoctype: () => undefined,
      onEof: () => undefined,
    },
  );
  tokenizer.write(xml.toString('utf8'), true);
  return text.end();
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

class DocxText {
  readonly #lines: string[] = [];
  #paragraph = '';
  #prefix = '';
  /** The cells of each table that is open, innermost last. */
  readonly #rows: string[][] = [];
  #isText = false;
  /** Nesting depth of fallback content for older programs. */
  #repeated = 0;

  open(name: string, value: string): void {
    if (name === 'fallback') this.#repeated += 1;
    else if (name === 't') this.#isText = true;
    else if (name === 'tab') this.#put('\t');
    else if (name === 'br' || name === 'cr') this.#put(this.#rows.length > 0 ? ' ' : '\n');
    else if (name === 'pstyle') this.#prefix = headingOf(value) ?? this.#prefix;
    else if (name === 'numpr' && this.#prefix === '') this.#prefix = '- ';
    else if (name === 'tr') this.#rows.push([]);
  }

  close(name: string): void {
    if (name === 'fallback') this.#repeated -= 1;
    else if (name === 't') this.#isText = false;
    else if (name === 'p') this.#endParagraph();
    else if (name === 'tc') this.#rows.at(-1)?.push(this.#takeParagraph());
    else if (name === 'tr') this.#endRow();
  }

  add(chars: string): void {
    if (this.#isText) this.#put(chars);
  }

  end(): string {
    this.#endParagraph();
    return this.#lines.join('\n');
  }

  #put(chars: string): void {
    if (this.#repeated === 0) this.#paragraph += chars;
  }

  #endParagraph(): void {
    if (this.#rows.length > 0) {
      this.#paragraph += ' ';
      this.#prefix = '';
    } else this.#lines.push(this.#takeParagraph());
  }

  #endRow(): void {
    const cells = this.#rows.pop() ?? [];
    const row = `| ${cells.join(' | ')} |`;
    if (this.#rows.length > 0) this.#paragraph += `${row} `;
    else this.#lines.push(row);
  }

  #takeParagraph(): string {
    const text = `${this.#prefix}${this.#paragraph}`.trimEnd();
    this.#paragraph = '';
    this.#prefix = '';
    return text;
  }
}

/**
 * Styles are called `Heading1` to `Heading6`, or `Title`. They have other names in other languages, where headings
 * stay plain.
 */
function headingOf(style: string): string | null {
  if (style === 'Title') return '# ';
  const level = /^Heading([1-6])$/.exec(style)?.[1];
  return level === undefined ? null : `${'#'.repeat(Number(level))} `;
}

const END = 0x06054b50;
const ENTRY = 0x02014b50;
const LOCAL = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT = 65_535;
const MAX_ENTRIES = 10_000;
const STORED = 0;
const DEFLATED = 8;

/**
 * Null if the archive has no such file. Throws RangeError if it is not an archive, or if the file unpacks to more
 * than `maxBytes`.
 */
export function unzip(archive: Buffer, name: string, maxBytes: number): Buffer | null {
  const end = endOf(archive);
  let at = archive.readUInt32LE(end + 16);
  const count = Math.min(archive.readUInt16LE(end + 10), MAX_ENTRIES);
  for (let nth = 0; nth < count && archive.readUInt32LE(at) === ENTRY; nth += 1) {
    const nameBytes = archive.readUInt16LE(at + 28);
    const found = archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes);
    if (found === name) return contentAt(archive, at, maxBytes);
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return null;
}

/** The record that locates the list of files: at the very end, before a comment. */
function endOf(archive: Buffer): number {
  const first = Math.max(0, archive.length - END_BYTES - MAX_COMMENT);
  for (let at = archive.length - END_BYTES; at >= first; at -= 1)
    if (archive.readUInt32LE(at) === END) return at;
  throw new RangeError('It is no ZIP archive.');
}

function contentAt(archive: Buffer, entry: number, maxBytes: number): Buffer {
  const isEncrypted = (archive.readUInt16LE(entry + 8) & 1) === 1;
  const method = archive.readUInt16LE(entry + 10);
  const packedBytes = archive.readUInt32LE(entry + 20);
  const local = archive.readUInt32LE(entry + 42);
  if (isEncrypted || archive.readUInt32LE(local) !== LOCAL)
    throw new RangeError('Its files are encrypted, or not where they should be.');
  const from = local + LOCAL_BYTES + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const packed = archive.subarray(from, from + packedBytes);
  if (method === STORED && packed.length <= maxBytes) return packed;
  if (method === DEFLATED) return inflateRawSync(packed, { maxOutputLength: maxBytes });
  throw new RangeError('It is packed in a way that is not known, or too large.');
}
