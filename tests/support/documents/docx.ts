/** Makes Word documents, and other ZIP archives. */

import { crc32, deflateRawSync } from 'node:zlib';

/** An archive of these files. `packed` replaces what a file is packed to. */
export function zipOf(files: Readonly<Record<string, string>>, packed?: Buffer): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let place = 0;
  for (const [name, text] of Object.entries(files)) {
    const data = packed ?? deflateRawSync(text);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(text), 10);
    common.writeUInt32LE(data.length, 14);
    common.writeUInt32LE(Buffer.byteLength(text), 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), data]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(place, 10);
    entries.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]));
    locals.push(local);
    place += local.length;
  }
  const list = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(place, 16);
  return Buffer.concat([...locals, list, end]);
}

/** A document with this body, as WordprocessingML. */
export function docxOf(body: string): Buffer {
  const xml = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?><w:document xmlns:w="x"><w:body>${body}</w:body></w:document>`;
  return zipOf({ '[Content_Types].xml': '<Types/>', 'word/document.xml': xml });
}

/** A paragraph with this text. */
export function paragraph(text: string, properties = ''): string {
  return `<w:p><w:pPr>${properties}</w:pPr><w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`;
}
