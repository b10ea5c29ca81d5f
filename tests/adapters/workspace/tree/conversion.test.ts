import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { patchOfAll, ScratchCheckout } from '../scratch-checkout.ts';

const ATTRIBUTES: Record<string, string> = {
  none: '',
  auto: 'text=auto',
  'auto-lf': 'text=auto eol=lf',
  'auto-crlf': 'text=auto eol=crlf',
  text: 'text',
  'text-crlf': 'text eol=crlf',
  binary: '-text',
  'binary-eol': '-text eol=lf',
  'eol-only': 'eol=crlf',
  'crlf-set': 'crlf',
  'crlf-unset': '-crlf',
  'crlf-input': 'crlf=input',
  'text-odd': 'text=odd',
  ident: 'ident',
  'ident-auto': 'ident text=auto',
  macro: 'binary',
  'no-driver': 'filter=unknown text=auto',
};

/** Contents at the edges of git's guess of what is text. */
const CONTENTS: Buffer[] = [
  '',
  '\r',
  '\n',
  '\r\n',
  'a\r\nb\r\n',
  'a\r\nb\n',
  'a\rb\r\n',
  'a\r\nb\r',
  'a\0b\r\n',
  'a\r\n\x1a',
  '\x1a\r\n\x1a',
  'a\r\r\n',
  `${'x'.repeat(127)}\r\n\x01`,
  `${'x'.repeat(128)}\r\n\x01`,
  `${'x'.repeat(255)}\r\n\x01\x02`,
  '\b\t\f\x1b\r\n',
  '\x7f\r\n',
  'caf\xe9\r\n',
  '$Id$\r\n',
  '$Id: 123 $\r\n',
  '$Id: 123 $ and $Id: 4\n$ $Id:$ $Id: open',
  '$$Id: x $$Id:$Id: y$',
  '$Id: a$Id: b$',
].map((text) => Buffer.from(text, 'latin1'));

const IN_INDEX: (Buffer | null)[] = [
  null,
  Buffer.from('a\nb\n'),
  Buffer.from('a\r\nb\r\n'),
  Buffer.from('a\r\n\0'),
];

/** A checkout with a folder for every attribute and a file for every pair of content and indexed blob. */
function checkoutOf(contents: readonly Buffer[], autocrlf: string): ScratchCheckout {
  const scratch = new ScratchCheckout();
  if (autocrlf !== '') scratch.git('config', 'core.autocrlf', autocrlf);
  scratch.write(
    '.gitattributes',
    Object.entries(ATTRIBUTES)
      .map(([folder, said]) => `/${folder}/** ${said}\n`)
      .join(''),
  );
  const blobs = IN_INDEX.map(
    (bytes) =>
      bytes &&
      execFileSync('git', ['hash-object', '-w', '--no-filters', '--stdin'], {
        cwd: scratch.root,
        env: scratch.env,
        input: bytes,
      })
        .toString()
        .trim(),
  );
  const index: string[] = [];
  for (const folder of Object.keys(ATTRIBUTES)) {
    mkdirSync(scratch.path(folder));
    contents.forEach((content, nth) => {
      blobs.forEach((blob, indexed) => {
        const path = `${folder}/${nth}-${indexed}`;
        writeFileSync(scratch.path(path), content);
        if (blob) index.push(`100644 ${blob}\t${path}\n`);
      });
    });
  }
  execFileSync('git', ['update-index', '--index-info'], {
    cwd: scratch.root,
    env: scratch.env,
    input: index.join(''),
  });
  return scratch;
}

/** Lines of `ls-tree` that are only in git's own tree of the work tree (`git`) or in ours. */
function differences(scratch: ScratchCheckout, tree: string): string[] {
  const list = (gitDir: string, id: string) =>
    scratch.gitIn(gitDir, `--git-dir=${gitDir}`, 'ls-tree', '-r', id).split('\n');
  const ours = list(scratch.shadow, tree);
  scratch.git('add', '--all');
  const theirs = list(`${scratch.root}/.git`, scratch.git('write-tree').trim());
  expect(ours.length).toBeGreaterThan(1);
  const [inOurs, inTheirs] = [new Set(ours), new Set(theirs)];
  return [
    ...ours.filter((line) => !inTheirs.has(line)).map((line) => `ours ${line}`),
    ...theirs.filter((line) => !inOurs.has(line)).map((line) => `git ${line}`),
  ];
}

describe('contents are kept as git add keeps them', () => {
  test.each(['', 'true'])('for every attribute and core.autocrlf=%j', async (autocrlf) => {
    const scratch = checkoutOf(CONTENTS, autocrlf);
    const { base } = await scratch.open();
    expect(differences(scratch, base().tree)).toEqual([]);
  });

  test('for any content', async () => {
    const piece = fc.constantFrom(
      '\r\n',
      '\n',
      '\r',
      'text',
      'x'.repeat(130),
      '\0',
      '\x01',
      '\xe9',
      '\x1a',
      '$Id: 1 $',
      '$Id:',
      '$',
      'Id: ',
    );
    const contents = fc.sample(fc.array(piece, { maxLength: 9 }), { numRuns: 25, seed: 7 });
    const scratch = checkoutOf(
      contents.map((pieces) => Buffer.from(pieces.join(''), 'latin1')),
      'input',
    );
    const { base } = await scratch.open();
    expect(differences(scratch, base().tree)).toEqual([]);
  });

  test('for files too large for memory, with line endings cut anywhere', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '*.txt text\n*.auto text=auto\n');
    const big = Buffer.alloc(18 * 1024 * 1024, 'line\r\n\r\r\nx\r\n');
    for (const name of ['a.txt', 'a.auto']) scratch.write(name, big);
    scratch.write('b.auto', Buffer.alloc(18 * 1024 * 1024, 'line of text\r\n'));
    const { base } = await scratch.open();
    expect(differences(scratch, base().tree)).toEqual([]);
  });

  test('in every working-tree-encoding', async () => {
    const encodings: [string, Buffer][] = [
      ['UTF-16', Buffer.from('\ufeffhé\r\nllo\n', 'utf16le')],
      ['utf16', Buffer.from('\ufeffhé\n', 'utf16le').swap16()],
      ['utf-16le-bom', Buffer.from('\ufeffhé\r\n', 'utf16le')],
      ['UTF-16LE', Buffer.from('hé\r\n', 'utf16le')],
      ['UTF-16BE', Buffer.from('hé\r\n', 'utf16le').swap16()],
      ['UTF-32', Buffer.from('fffe00006800000000f60100', 'hex')],
      ['ISO-8859-1', Buffer.from('caf\xe9 \x85\r\n', 'latin1')],
      ['SHIFT-JIS', Buffer.from('838983438367', 'hex')],
      ['UTF-8', Buffer.from('é\r\n')],
    ];
    const scratch = new ScratchCheckout();
    const lines = encodings.map(([encoding]) => `*.${encoding} text working-tree-encoding=${encoding}\n`);
    scratch.write('.gitattributes', lines.join(''));
    for (const [encoding, bytes] of encodings) scratch.write(`a.${encoding}`, bytes);
    const workspace = await scratch.open();
    expect(workspace.notes().warnings).toEqual([]);
    expect(differences(scratch, workspace.base().tree)).toEqual([]);
  });

  test('except if an encoding is unknown or does not fit, with a warning', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '*.odd working-tree-encoding=odd\n*.txt working-tree-encoding=UTF-16\n');
    scratch.write('a.odd', 'x');
    scratch.write('a.txt', 'no mark');
    expect((await scratch.open()).notes().warnings).toEqual([
      '[WARN_NOT_CONVERTED] "a.odd" is stored as it is on disk: failed to encode \'a.odd\' from odd to UTF-8.',
      '[WARN_NOT_CONVERTED] "a.txt" is stored as it is on disk: BOM is required in \'a.txt\' if encoded as UTF-16.',
    ]);
  });

  test('many that do not fit cost as much as one, and the others are converted', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '*.txt working-tree-encoding=UTF-16\n');
    scratch.write('good.txt', Buffer.from('\ufeffhé\n', 'utf16le'));
    const names = Array.from({ length: 40 }, (_, at) => `new\nline ${at}.txt`);
    for (const name of names) scratch.write(name, 'no mark');
    const workspace = await scratch.open();
    const warnings = workspace.notes().warnings.filter((one) => one.includes('WARN_NOT_CONVERTED'));
    expect(warnings).toHaveLength(40);
    const good = `${workspace.base().tree}:good.txt`;
    expect(scratch.git(`--git-dir=${scratch.shadow}`, 'cat-file', 'blob', good)).toBe('h\xc3\xa9\n');
  });

  test('with attributes of every level and of the repository and the user', async () => {
    const scratch = new ScratchCheckout();
    scratch.git('config', 'core.attributesFile', '~/attrs');
    scratch.write('../home/attrs', '*.user text\n*.log text\n');
    writeFileSync(`${scratch.root}/.git/info/attributes`, '*.info text\nsub/*.log -text\n');
    scratch.write('.gitattributes', '*.txt text\n');
    scratch.write('sub/.gitattributes', '*.txt -text\n*.sub text\n');
    scratch.write('sub/deeper/.gitattributes', '[attr]mine text\n*.txt text=auto\n');
    for (const folder of ['', 'sub/', 'sub/deeper/']) {
      for (const name of ['a.txt', 'a.sub', 'a.info', 'a.user', 'a.log', 'a.none'])
        scratch.write(`${folder}${name}`, 'x\r\ny\r\n');
    }
    const { base } = await scratch.open();
    expect(differences(scratch, base().tree)).toEqual([]);
  });
});

describe('filters', () => {
  test('an LFS file that is changed becomes the pointer of its new content, with a warning', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    const pointer =
      'version https://git-lfs.github.com/spec/v1\noid sha256:6ae8a75555209fd6c44157c0aed8016e763ff435a19cf186f76863140143ff72\nsize 12\n';
    scratch.write('a.bin', pointer);
    scratch.write('unfetched.bin', pointer);
    scratch.commit();
    scratch.write('a.bin', 'test content');
    const workspace = await scratch.open();
    expect(workspace.base().dirty).toBe(false);
    expect(workspace.notes().warnings).toEqual([]);
    scratch.write('a.bin', 'test content 2\r\n');
    const patch = Buffer.from((await patchOfAll(workspace)).bytes).toString();
    expect(patch).toMatch(/\n-oid sha256:6ae8a755.*\n-size 12\n\+oid sha256:[0-9a-f]{64}\n\+size 16\n/);
    expect(workspace.notes().warnings).toEqual([
      '[WARN_LFS_POINTER] "a.bin" is in the patch as a Git LFS pointer; push its content with git lfs.',
    ]);
  });

  test('other filters are not run: unchanged files keep their blob, changed ones are stored raw, with a warning', async () => {
    const scratch = new ScratchCheckout();
    scratch.git('config', 'filter.rot.clean', 'tr a-z n-za-m');
    scratch.git('config', 'filter.rot.smudge', 'tr a-z n-za-m');
    scratch.write('.gitattributes', '*.rot filter=rot\n');
    scratch.write('a.rot', 'hello\n');
    scratch.write('b.rot', 'hello\n');
    scratch.commit();
    scratch.write('b.rot', 'hello\n');
    const workspace = await scratch.open();
    expect(workspace.base().dirty).toBe(false);
    expect(await workspace.capture('all')).toEqual([]);
    scratch.write('a.rot', 'changed\n');
    const patch = Buffer.from((await patchOfAll(workspace)).bytes).toString();
    expect(patch).toContain('\n-uryyb\n+changed\n');
    expect(workspace.notes().warnings).toEqual([
      '[WARN_FILTER_NOT_RUN] "a.rot" is in the patch as it is on disk; its filter "rot" was not run.',
    ]);
  });
});

describe('line endings in a run', () => {
  test('a CRLF file under text=auto gives a patch of the changed line alone', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('.gitattributes', '* text=auto\n');
    scratch.write('a.txt', 'one\r\ntwo\r\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('a.txt', 'one\r\n2\r\n');
    const patch = Buffer.from((await patchOfAll(workspace)).bytes).toString();
    expect(patch).toMatch(/@@\n one\n-two\n\+2\n$/);
  });
});
