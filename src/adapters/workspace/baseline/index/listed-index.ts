/** Puts what `git ls-files --stage --debug -z` says of an index into the form of index format 3. */

/** Takes the listing piece by piece; `bytes` gives the index when the last one has come, or null if a part of it has another form. */
export function listedIndex(idBytes: number): { add(piece: Buffer): void; bytes(): Buffer | null } {
  const records: Buffer[] = [];
  let rest = '';
  const take = (text: string, isLast: boolean) => {
    let end = 0;
    for (const found of text.matchAll(ENTRY)) {
      const next = found.index + found[0].length;
      // The last entry may continue in the next piece.
      if (!isLast && !/\d/.test(text.charAt(next))) break;
      records.push(recordOf(found, idBytes));
      end = next;
    }
    rest = text.slice(end);
  };
  return {
    add: (piece) => take(rest + piece.toString('latin1'), false),
    bytes() {
      take(rest, true);
      if (rest !== '') return null;
      const header = Buffer.from('DIRC\0\0\0\x03\0\0\0\0', 'latin1');
      header.writeUInt32BE(records.length, 8);
      return Buffer.concat([header, ...records, Buffer.alloc(idBytes)]);
    },
  };
}

/**
 * One entry: `mode blob stage TAB path NUL` and five lines with the file's stat. Git may change this format; an entry in another
 * form is used without its stat, so that the file is hashed.
 */
const ENTRY = /(\d{6}) ([0-9a-f]+) (\d)\t([^\0]+)\0((?: {2}[a-z]+: [^\n]*\n)*)/gy;
const DEBUG =
  /ctime: (\d+):(\d+)\n {2}mtime: (\d+):(\d+)\n {2}dev: \d+\tino: (\d+)\n {2}uid: [^\n]*\n {2}size: (\d+)\tflags: ([0-9a-f]+)\n/;

/** Younger than any index. */
const UNKNOWN_TIME = 0xffff_ffff;

function recordOf(
  [, mode = '', blob = '', stage = '0', path = '', debug = '']: RegExpMatchArray,
  idBytes: number,
): Buffer {
  const known = DEBUG.exec(debug);
  const [ctimeS, ctimeNs, mtimeS, mtimeNs, ino, size] = known?.slice(1, 7).map(Number) ?? [
    0,
    0,
    UNKNOWN_TIME,
  ];
  const flags = Number.parseInt(known?.[7] ?? '0', 16);
  const name = Buffer.from(path, 'latin1');
  const nameAt = 40 + idBytes + 4;
  const record = Buffer.alloc(((nameAt + name.length) & ~7) + 8);
  [ctimeS, ctimeNs, mtimeS, mtimeNs, 0, ino].forEach((value = 0, at) => {
    record.writeUInt32BE(value, at * 4);
  });
  record.writeUInt32BE(Number.parseInt(mode, 8), 24);
  record.writeUInt32BE(size ?? 0, 36);
  record.write(blob, 40, 'hex');
  const extended = 0x4000;
  const assumeUnchanged = flags & 0x8000;
  record.writeUInt16BE(
    assumeUnchanged | extended | (Number(stage) << 12) | Math.min(name.length, 0x0fff),
    40 + idBytes,
  );
  // Flags that only format 3 has; git keeps them in the upper half of its flags in memory.
  record.writeUInt16BE((flags >>> 16) & 0x6000, 40 + idBytes + 2);
  name.copy(record, nameAt);
  return record;
}
