import { describe, expect, test } from 'vitest';
import { ScratchCheckout } from './scratch-checkout.ts';

describe('uncommitted work', () => {
  test('files are known by names that look like the lines git lists them in', async () => {
    const scratch = new ScratchCheckout();
    const names = [
      'a\n  size: 1\tflags: 0\n',
      '100644 0123456789012345678901234567890123456789 0\tb',
      'c\tflags: 0\n1',
    ];
    for (const name of names) scratch.write(name, 'text\n');
    // More than one piece of what git says at a time.
    for (let at = 0; at < 600; at += 1)
      scratch.write(`${'x'.repeat(1 + (at % 150))}/${names[at % 3]}${at}`, 'text\n');
    scratch.commit();
    // The second one is listed by git.
    for (const version of ['2', '4']) {
      scratch.git('update-index', `--index-version=${version}`);
      const workspace = await scratch.open();
      expect(workspace.base().dirty).toBe(false);
      expect(workspace.base().tree).toBe(scratch.git('rev-parse', 'HEAD^{tree}').trim());
    }
  });
});

describe('captures', () => {
  test('of single paths see these and what stood in their way, and nothing else', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.write('folder/x', 'x\n');
    scratch.write('folder/y', 'y\n');
    scratch.write('file', 'f\n');
    scratch.commit();
    const workspace = await scratch.open();
    const paths = async (scope: string[]) =>
      (await workspace.capture(scope)).map(({ path, after }) => [path, after !== null]);
    scratch.write('a.txt', 'changed\n');
    scratch.write('other.txt', 'o\n');
    scratch.remove('folder');
    scratch.write('folder', 'now a file\n');
    scratch.remove('file');
    scratch.write('file/inside', 'i\n');
    expect(await paths(['other.txt'])).toEqual([['other.txt', true]]);
    expect(await paths(['folder'])).toEqual([
      ['folder', true],
      ['folder/x', false],
      ['folder/y', false],
    ]);
    expect(await paths(['file/inside'])).toEqual([['file/inside', true]]);
    expect(await paths(['missing', 'missing/too', 'a.txt/below'])).toEqual([['a.txt', true]]);
    expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['file']);
  });

  test('a change within the clock tick of the last capture is seen', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    for (let round = 0; round < 100; round += 1) {
      scratch.writeInPlace('a.txt', `round ${String(round).padStart(3, '0')}\n`);
      expect((await workspace.capture('all')).map(({ path }) => path)).toEqual(['a.txt']);
    }
  });

  test('asked for at once, they come one after the other and tell each change once', async () => {
    const scratch = new ScratchCheckout();
    const workspace = await scratch.open();
    for (let i = 0; i < 20; i += 1) scratch.write(`f${i}`, `${i}\n`);
    const seen = await Promise.all([
      workspace.capture(['f3']),
      workspace.capture('all'),
      workspace.capture('all'),
    ]);
    expect(seen.map((changes) => changes.length)).toEqual([1, 19, 0]);
  });

  test('a closed folder is examined anyway: its owner opens it', async () => {
    const scratch = new ScratchCheckout();
    scratch.write('a.txt', 'a\n');
    scratch.write('folder/b.txt', 'b\n');
    scratch.commit();
    const workspace = await scratch.open();
    scratch.write('a.txt', 'changed\n', 0o000);
    scratch.forbid('folder');
    const changes = (await workspace.capture('all')).map(({ path }) => path);
    expect(changes).toEqual(['a.txt']);
    // Root reads everything, and opens nothing.
    const opened = (name: string, closed: string, open: string) =>
      `[WARN_OPENED_AGAIN] "${name}" was closed (mode ${closed}) during the run and has been opened again (mode ${open}).`;
    expect(workspace.notes().warnings).toEqual(
      process.getuid?.() === 0 ? [] : [opened('folder', '0000', '0700'), opened('a.txt', '0000', '0600')],
    );
  });
});
