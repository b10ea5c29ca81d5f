/** A run directory that is not as a run left it is refused before anything is written. */

import { mkdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openShop } from '../../support/jobs/shop.ts';

const shop = openShop();

describe('a run directory is hostile input:', () => {
  const refused = async (pattern: RegExp, args: readonly string[] = []) => {
    const { exitCode, said } = await shop.publish(args);
    expect(said.reason).toMatch(pattern);
    expect([1, 2, 7, 8, 11]).toContain(exitCode);
    expect(shop.writes()).toEqual([]);
  };

  test('a patch that does not match the result', async () => {
    writeFileSync(join(shop.run.runDir, 'changes.patch'), `${shop.run.patch}\n`);
    await refused(/is larger than|is not the patch that the run wrote/);
  });

  test('a result that is no JSON', async () => {
    writeFileSync(join(shop.run.runDir, 'result.json'), '{');
    await refused(/is not the result of a run/);
  });

  test('a patch behind a link', async () => {
    const path = join(shop.run.runDir, 'changes.patch');
    writeFileSync(`${path}.real`, shop.run.patch);
    unlinkSync(path);
    symlinkSync(`${path}.real`, path);
    await refused(/is a link/);
  });

  test('a file missing from the patch, and one missing from the result', async () => {
    shop.tamper((result) =>
      result.changedFiles.push({ path: 'zzz', kind: 'create', additions: 1, deletions: 0 }),
    );
    await refused(/"zzz" is not changed, but listed in the result/);
    shop.tamper((result) => result.changedFiles.splice(0, 99, ...result.changedFiles.slice(0, -2)));
    await refused(/git does not apply it|is changed, and not listed in the result/);
  });

  test('names that are none: ids that are paths, a branch that is an option', async () => {
    shop.tamper((result) => Object.assign(result, { baseSha: '../../../user' }));
    await refused(/"..\/..\/..\/user" is not an object id/);
    shop.tamper((result) =>
      Object.assign(result, { baseSha: result.treeSha, baseBranch: '--upload-pack=x' }),
    );
    await refused(/"--upload-pack=x" is not a branch name/);
    expect(shop.github.requests).toEqual([]);
  });

  test('another tree than the patch makes', async () => {
    shop.tamper((result) => Object.assign(result, { treeSha: '1'.repeat(40) }));
    await refused(/it is not the patch that the run proved/);
  });

  test('an unfinished run, and one that ended without success', async () => {
    const { patch } = shop.run.result;
    shop.tamper((result) => Object.assign(result, { status: 'running', outcome: null }));
    await refused(/process ended without a result/);
    shop.tamper((result) => Object.assign(result, { outcome: 'limit_reached', patch }));
    await refused(/--publish-unfinished/);
    expect((await shop.publish(['--publish-unfinished'])).said.pullRequest).toMatchObject({ draft: true });
  });

  test('more than the caps, and what the globs do not allow', async () => {
    await refused(/--max-patch-files/, ['--max-patch-files', '2']);
    await refused(/--max-patch-size/, ['--max-patch-size', '100']);
    await refused(/do not allow changes to: .*README|do not allow changes to/, ['--allow', 'docs/**']);
    await refused(/do not allow changes to: gone\/only.txt/, ['--protect', 'gone']);
  });

  test('a publish.json that cannot be written is a warning', async () => {
    // Not even the administrator replaces a folder by a file.
    mkdirSync(join(shop.run.runDir, 'publish.json', 'x'), { recursive: true });
    const { exitCode, said } = await shop.publish();
    expect({ exitCode, warning: said.warnings.at(-1) }).toEqual({
      exitCode: 0,
      warning: expect.stringMatching(/^\[WARN_DOCUMENT_UNWRITTEN\] .*publish\.json cannot be written/),
    });
  });
});
