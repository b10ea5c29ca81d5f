/** Which documents can be read, judged by content: a name proves nothing. */

/** A PDF may begin after other bytes; those that do are rare, and are not read. */
export function isPdf(bytes: Uint8Array): boolean {
  return new TextDecoder('latin1').decode(bytes.subarray(0, 5)) === '%PDF-';
}

/** A ZIP archive that contains the text of a Word document: names are not compressed. */
export function isDocx(bytes: Uint8Array): boolean {
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return archive.subarray(0, 4).toString('latin1') === 'PK\x03\x04' && archive.includes('word/document.xml');
}
