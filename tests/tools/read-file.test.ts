import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readFileTool } from '../../src/tools/read-file.ts';
import { GIF, pngHeader, pngImage } from '../support/files/images.ts';
import { type PlainWorkspace, plainWorkspace } from '../support/files/plain-workspace.ts';

let workspace: PlainWorkspace;

const ok = (text: string) => ({ status: 'ok', text });
const failed = (reason: string, text: string) => ({ status: 'failed', reason, text });

beforeEach(() => {
  workspace = plainWorkspace();
});

afterEach(() => workspace.remove());

const read = (input: object, limit?: number) => workspace.call(readFileTool(), input, limit);
const numbered = (count: number) => Array.from({ length: count }, (_, n) => `line ${n + 1}\n`).join('');

/** The coverage of a file that was shown as far as the calls so far went. */
async function coverage(path: string) {
  const file = await workspace.context.workspace.readFile(path as never);
  return file.status === 'ok' ? workspace.seen.coverage(path, file.blob) : file.reason;
}

describe('text', () => {
  test('is shown unchanged: byte order mark, line endings, missing final newline, no line numbers', async () => {
    const text = '\ufeffone\r\ntwo\nError: three';
    workspace.put('file.txt', text);
    expect(await read({ path: './file.txt' })).toEqual({ status: 'ok', text });
    expect(await coverage('file.txt')).toBe('all');
  });

  test('is shown from a line on, and for a number of lines, with a notice of where that is', async () => {
    workspace.put('file.txt', numbered(5));
    expect(await read({ path: 'file.txt', offset: 2, limit: 2 })).toEqual(
      ok('line 2\nline 3\n[Lines 2-3 of 5]'),
    );
    expect(await coverage('file.txt')).toBe('part');
    expect(await read({ path: 'file.txt', offset: 4, limit: 99 })).toEqual(
      ok('line 4\nline 5\n[Lines 4-5 of 5]'),
    );
    expect(await coverage('file.txt')).toBe('part');
    expect(await read({ path: 'file.txt', limit: 1 })).toEqual(ok('line 1\n[Lines 1-1 of 5]'));
    expect(await coverage('file.txt')).toBe('all');
  });
});

describe('a large file', () => {
  test('over 100 KB is shown from its beginning on, with the call that shows the rest', async () => {
    workspace.put('big.txt', `${'x'.repeat(1023)}\n`.repeat(150));
    const notice = (from: number, to: number, rest: object) =>
      `[Lines ${from}-${to} of 150 (153,600 bytes): one call shows at most 102,400 bytes. Next: read_file ${JSON.stringify(rest)}]`;
    const beginning = await read({ path: 'big.txt' }, 200_000);
    expect(beginning).toEqual(
      ok(
        `${`${'x'.repeat(1023)}\n`.repeat(100)}${notice(1, 100, { path: 'big.txt', offset: 101, limit: 50 })}`,
      ),
    );
    expect(await coverage('big.txt')).toBe('part');
    expect((await read({ path: 'big.txt', offset: 40 }, 200_000)).text).toContain(
      notice(40, 139, { path: 'big.txt', offset: 140, limit: 11 }),
    );
    expect(await coverage('big.txt')).toBe('part');
    await read({ path: 'big.txt', offset: 140, limit: 11 }, 200_000);
    expect(await coverage('big.txt')).toBe('all');
  });

  test('with a single line over 100 KB is shown from its start, and the rest through a command', async () => {
    workspace.put("it's.min.js", 'é'.repeat(60_000));
    const next = `run_command ${JSON.stringify({ command: `sed -n '1p' './it'\\''s.min.js' | cut -c 40001-60000` })}`;
    expect(await read({ path: "it's.min.js" })).toEqual(
      ok(`${'é'.repeat(20_000)}\n[Line 1 has 120,000 bytes, of which this is the beginning. Next: ${next}]`),
    );
    expect(await coverage("it's.min.js")).toBe('none');
  });

  test('that is not even read whole is shown from its beginning on, and the rest through a command', async () => {
    workspace.put('huge', `${'x'.repeat(99)}\n`.repeat(10_001));
    const why = '"huge" has 1,000,100 bytes; files over 1,000,000 bytes are not read whole.';
    const next = (from: number, to: number) =>
      `Next: run_command {"command":"sed -n '${from},${to}p' ./huge"}`;
    expect(await read({ path: 'huge' }, 200_000)).toEqual(
      ok(`${`${'x'.repeat(99)}\n`.repeat(1_024)}[Lines 1-1024. ${why} ${next(1_025, 1_424)}]`),
    );
    expect((await read({ path: 'huge', limit: 2 })).text).toBe(
      `${`${'x'.repeat(99)}\n`.repeat(2)}[Lines 1-2. ${why} ${next(3, 4)}]`,
    );
    const failed = { status: 'failed', reason: 'too_large' };
    expect(await read({ path: 'huge', offset: 7, limit: 10 })).toEqual({
      ...failed,
      text: `${why} ${next(7, 16)}`,
    });
    workspace.put('huge', `\0${'x'.repeat(1_000_000)}\n`);
    expect(await read({ path: 'huge' })).toMatchObject(failed);
  });
});

describe('a result that is cut', () => {
  test('names the call that shows exactly the lines that are missing, and only what was shown counts as seen', async () => {
    workspace.put('file.txt', numbered(1_000));
    const cut = await read({ path: 'file.txt' }, 1_000);
    const [head, , tail] = cut.text.split(/\[(\d+ of \d+)\]/);
    const firstMissing = (head?.split('\n').length ?? 0) - 1 + 1;
    const lastMissing = 1_000 - ((tail?.split('\n').length ?? 0) - 2);
    expect(cut.next).toBe(
      `read_file ${JSON.stringify({ path: 'file.txt', offset: firstMissing, limit: lastMissing - firstMissing + 1 })}`,
    );
    expect(await coverage('file.txt')).toBe('part');
    await read(JSON.parse(cut.next?.slice('read_file '.length) ?? ''));
    expect(await coverage('file.txt')).toBe('all');
  });

  test('can be followed, call by call, until everything has been seen', async () => {
    workspace.put('file.txt', Array.from({ length: 60 }, (_, n) => `${n} ${'x'.repeat(n * 3)}\n`).join(''));
    let next: string | undefined = 'read_file {"path":"file.txt"}';
    for (let calls = 0; next !== undefined && calls < 60; calls += 1) {
      next = (await read(JSON.parse(next.slice('read_file '.length)), 1_000)).next;
    }
    expect(await coverage('file.txt')).toBe('all');
  });

  test('inside one long line continues with a command instead of the same call', async () => {
    workspace.put('line.txt', `short\n${'x'.repeat(5_000)}\nshort\n`);
    expect((await read({ path: 'line.txt', offset: 2, limit: 1 }, 1_000)).next).toBe(
      `run_command {"command":"sed -n '2p' ./line.txt | cut -c 501-20500"}`,
    );
  });
});

describe('what is not UTF-8 text', () => {
  test.each([
    ['data', Buffer.of(1, 0, 2), 'binary data', '01 00 02', ''],
    [
      'wide.txt',
      Buffer.from('\ufeffhi', 'utf16le'),
      'UTF-16 text (little endian)',
      'ff fe 68 00 69 00',
      ' Next: run_command {"command":"iconv -f UTF-16 -t UTF-8 ./wide.txt"}',
    ],
    [
      'old.txt',
      Buffer.from('caf\xe9', 'latin1'),
      'Latin-1 or other non-UTF-8 text',
      '63 61 66 e9',
      ' Next: run_command {"command":"iconv -f LATIN1 -t UTF-8 ./old.txt"}',
    ],
  ])('%s is named for what it is', async (path, bytes, kind, first, next) => {
    workspace.put(path, bytes);
    expect(await read({ path })).toEqual(
      failed(
        'not_text',
        `"${path}" is ${kind}, not UTF-8 text: ${bytes.length} bytes, first bytes ${first}.${next}`,
      ),
    );
  });
});

describe('an image', () => {
  const result = (path: string) => readFileTool().execute({ path }, workspace.context);

  test('is passed on unchanged, by its content, and does not count as seen', async () => {
    workspace.put('shot', pngImage(40, 30));
    expect(await result('shot')).toMatchObject({
      status: 'ok',
      output: { head: `["shot" is a PNG image of 40 x 30 pixels, ${pngImage(40, 30).length} bytes]` },
      images: [{ mediaType: 'image/png', width: 40, height: 30 }],
    });
    expect(await coverage('shot')).toBe('none');
    workspace.put('text.gif', 'GIF89a is how such a file begins.');
    expect(await result('text.gif')).not.toHaveProperty('images');
  });

  test('that is too large for any API is refused by size, and a broken one by kind', async () => {
    workspace.put('huge.png', pngHeader(100_000, 100_000));
    expect(await read({ path: 'huge.png' })).toEqual(
      failed(
        'too_large',
        '"huge.png" is a PNG image of 100,000 x 100,000 pixels, 33 bytes, and images of more than 8,000 pixels a side are not shown.',
      ),
    );
    workspace.put('half.png', pngImage().subarray(0, 20));
    expect(await read({ path: 'half.png' })).toMatchObject({ reason: 'not_text' });
    workspace.put('pixel.gif', GIF);
    expect(await read({ path: 'pixel.gif' })).toMatchObject({ status: 'ok' });
  });
});
