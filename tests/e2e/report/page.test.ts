/** The page of a run in a real browser: what a reviewer sees, reaches with keys, and what hostile text in it can do. */

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inaccessible, type OpenedPage, openReport, startBrowser } from '../../support/browser/chromium.ts';
import { makeRepository, removeFolders, temporaryFolder } from '../../support/files/repository.ts';
import { runCli } from '../../support/runs/cli.ts';
import { call, type FinishedRun, scriptedRun } from '../../support/runs/scripted-run.ts';
import { testAtNight } from '../../support/setup/at-night.ts';
import { sampled } from '../../support/setup/sample.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await startBrowser();
});
afterAll(async () => {
  await browser.close();
  removeFolders();
});

const finish = { calls: [call('finish', { status: 'done', summary: 'It is done.' })] };

const pageOf = (run: FinishedRun) => join(run.runDir, 'report.html');

/** A file of so many lines. */
const lines = (n: number, text: string) => Array.from({ length: n }, (_, at) => `${text} ${at}\n`).join('');

test('what a review found comes first, and is listed with its place', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  const finding = { severity: 'note', path: 'b.txt', line: 1, problem: 'It says new, not <b>newer</b>.' };
  const run = await scriptedRun({
    repository,
    args: ['--review'],
    turns: [
      { calls: [call('write_file', { path: 'b.txt', content: 'new\n' })] },
      finish,
      { calls: [call('submit_review', { findings: [finding] })] },
    ],
  });
  const { page, incidents, close } = await openReport(browser, pageOf(run));
  expect(await page.locator('.points').innerText()).toContain('1 finding');
  const listed = await page.locator('#points').innerText();
  expect(listed).toMatch(
    /Found by the review of claude-sonnet-5-5\s+note b\.txt:1 It says new, not <b>newer<\/b>\./,
  );
  expect(incidents).toEqual([]);
  await close();
});

test('a run on uncommitted work says in which order its patches apply, and so they do', async () => {
  const repository = await makeRepository({ 'a.txt': 'old\n' });
  writeFileSync(join(repository.root, 'a.txt'), 'old\nmine\n');
  const edit = call('edit_file', { path: 'a.txt', find: 'mine', replace: 'its' });
  const run = await scriptedRun({ repository, turns: [{ calls: [edit] }, finish] });
  const { page, incidents, close } = await openReport(browser, pageOf(run));
  const warned = page.locator('#points li', { hasText: 'uncommitted changes when the run started' });
  expect(await warned.locator('.badge').innerText()).toBe('WARN_UNCOMMITTED_WORK');
  const apply = await page.locator('#files code', { hasText: 'git apply' }).innerText();
  expect(apply).toBe('git apply --index uncommitted.patch changes.patch');
  await repository.git('checkout', '--quiet', 'a.txt');
  const patches = ['uncommitted.patch', 'changes.patch'].map((name) => join(run.runDir, name));
  await repository.git('apply', '--index', ...patches);
  expect(readFileSync(join(repository.root, 'a.txt'), 'utf8')).toBe('old\nits\n');
  expect(incidents).toEqual([]);
  await close();
});

describe('a run whose verification fails', () => {
  const recorded = (async () => {
    const repository = await makeRepository({
      'src/sum.js': 'export const sum = (a, b) => a - b;\n',
      'locked.txt': 'as it is\n',
      'large.txt': 'begin\n',
    });
    return scriptedRun({
      repository,
      args: ['--verify', 'echo broken here; exit 3', '--protect', 'locked.txt', '--fix-rounds', '0'],
      turns: [
        { text: 'I look first.', calls: [call('read_file', { path: 'src/sum.js' })] },
        {
          calls: [
            call('edit_file', { path: 'src/sum.js', find: 'a - b', replace: 'a + b' }),
            call('write_file', { path: 'locked.txt', content: 'mine\n' }),
            call('run_command', { command: 'seq 3000 >> large.txt' }),
          ],
        },
        finish,
      ],
    });
  })();

  let opened: OpenedPage;
  beforeAll(async () => {
    opened = await openReport(browser, pageOf(await recorded));
  });
  afterAll(() => opened.close());

  // First, since the others move the focus.
  test('can be walked through with the tab key, from the first link to the last part', async () => {
    const { page } = opened;
    const seen: string[] = [];
    for (let at = 0; at < 60; at += 1) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate<string>(
        '(document.activeElement?.closest("section,nav,header") ?? document.body).id || document.activeElement?.closest("nav,header")?.localName || ""',
      );
      if (seen.at(-1) !== name) seen.push(name);
    }
    expect(seen.slice(0, 8)).toEqual([
      'header',
      'nav',
      'verdict',
      'plan',
      'changes',
      'timeline',
      'verify',
      'points',
    ]);
  });

  test('is reported from the top: outcome, reason and what to look at come first', async () => {
    const { page, incidents } = opened;
    expect(await page.locator('h1').innerText()).toContain('Verification failed');
    const reason = await page.locator('.reason').innerText();
    expect(reason).toBe((await recorded).result.reason);
    expect(await page.locator('.points').innerText()).toContain('1 denied action');
    expect(await page.locator('#verify .report.broken').innerText()).toContain('broken here');
    expect(await page.locator('#points').innerText()).toContain('locked.txt');
    expect(await page.title()).toContain('verify_failed');
    expect(incidents).toEqual([]);
  });

  test('shows for each hunk which call made it, and leads there and back with keys alone', async () => {
    const { page, incidents } = opened;
    const hunk = page.locator('.hunk', { hasText: 'a + b' });
    const origin = hunk.locator('a.origin');
    expect(await origin.innerText()).toBe('iteration 2.1 · edit_file');
    await origin.focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction('document.activeElement?.parentElement?.id === "c2-1"');
    const made = page.locator('#c2-1');
    expect(await made.innerText()).toContain('a + b');
    expect(await made.getAttribute('open')).not.toBe(null);
    await made.locator('a', { hasText: 'src/sum.js:1' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction('/^f\\d+h0$/.test(document.activeElement?.id ?? "")');
    await page.goBack();
    await page.waitForFunction('document.activeElement?.parentElement?.id === "c2-1"');
    expect(incidents).toEqual([]);
  });

  testAtNight.each(
    sampled(
      [
        ['light', 1440],
        ['dark', 1440],
        ['light', 375],
        ['dark', 375],
      ] as const,
      () => 'page',
      3,
    ),
  )(
    'has no barrier that axe knows, in the %s theme at %i pixels, and no line is too wide',
    async (theme, width) => {
      const { page, incidents, close } = await openReport(browser, pageOf(await recorded), { theme, width });
      for (const id of ['#c2-1', '#c2-2', '#c2-3', '#i1']) await page.evaluate(`location.hash = '${id}'`);
      await page.getByRole('button', { name: 'Unfold all' }).click();
      await page.locator('details.part > summary').last().click();
      expect(await inaccessible(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      expect(incidents).toEqual([]);
      await close();
    },
  );
});

describe('hostile text', () => {
  const EVIL = '</script><script>alert(1)</script><img src=x onerror=alert(2)>';

  test('stays text, is seen where it would hide, and makes the page ask no one', async () => {
    const repository = await makeRepository({
      'windows.txt': 'one\r\ntwo\r\n',
      'bidi.js': 'const ok = 1;\n',
      'picture.png': new Uint8Array([0x89, 0x50, 0, 1, 2, 3]),
    });
    const command = [
      "printf 'one\\ntwo\\r\\n' > windows.txt",
      "printf 'const ok = 1; // \\342\\200\\256 hidden\\n' > bidi.js",
      "printf '\\211P\\000\\003' > picture.png",
      "printf 'x\\377y\\n' > \"$(printf 'na\\377me.txt')\"",
      "printf 'no end' > open.txt",
      `echo '${EVIL}'`,
    ].join(' && ');
    const run = await scriptedRun({
      repository,
      args: ['--message', `${EVIL} <b>`],
      withoutTask: true,
      turns: [
        { text: `${EVIL}\u202e\u0007`, calls: [call('run_command', { command })] },
        { calls: [call('write_file', { path: 'evil.html', content: `${EVIL}\n` })] },
        { calls: [call('finish', { status: 'done', summary: EVIL })] },
      ],
    });
    expect(run.result.outcome, run.stderr).toBe('done');
    const { page, incidents, close } = await openReport(browser, pageOf(run), { hash: '#c1-1' });
    await page.getByRole('button', { name: 'Unfold all' }).click();
    for (const file of await page.locator('.file').all()) await file.scrollIntoViewIfNeeded();
    await page
      .locator('.file.filled')
      .nth(run.result.changedFiles.length - 1)
      .waitFor();
    const shown = await page.locator('main').innerText();
    expect(shown).toContain(EVIL);
    expect(shown).toContain('na\\xffme.txt');
    expect(shown).toContain('x\\xffy');
    expect(shown).toContain('U+202E');
    expect(shown).toContain('twoCR');
    expect(shown).toContain('no line ending');
    expect(shown).toContain('A binary file');
    expect(await page.locator('script').count()).toBe(3);
    expect(await page.locator('img').count()).toBe(0);
    expect(incidents).toEqual([]);
    // What no text of a run may become, no script can make of it either.
    const refused = 'try { document.body.innerHTML = "<b>"; "made" } catch (error) { error.name }';
    expect(await page.evaluate(refused)).toBe('TypeError');
    await close();
  });
});

testAtNight('a patch of megabytes and 200 iterations are a page of few elements', async () => {
  const repository = await makeRepository({ 'a.txt': 'a\n' });
  const folder = temporaryFolder();
  const write = (at: number) => ({
    name: 'write_file',
    input: { path: `made/${at}.ts`, content: lines(500, `export const value = ${at}; // and more`) },
  });
  const turns = Array.from({ length: 199 }, (_, at) => ({ calls: [write(at)] }));
  writeFileSync(
    join(folder, 'script.jsonl'),
    [...turns, finish].map((turn) => `${JSON.stringify(turn)}\n`).join(''),
  );
  const recording = ['--provider', 'replay', '--recording', join(folder, 'script.jsonl')];
  const limits = ['--max-iterations', '250', '--sandbox', 'off'];
  const runDir = join(folder, 'run');
  const end = await runCli(['run', '-m', 'Do it', ...recording, ...limits, '--run-dir', runDir], {
    cwd: repository.root,
  });
  expect(end.exitCode, end.stderr).toBe(0);
  expect(statSync(join(runDir, 'changes.patch')).size).toBeGreaterThan(4_000_000);
  const { page, incidents, close } = await openReport(browser, join(runDir, 'report.html'));
  expect(await page.locator('.row').count()).toBe(200);
  expect(await page.locator('.file').count()).toBe(199);
  expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(25_000);
  await page.evaluate("location.hash = '#f190'");
  await page.waitForFunction(
    'document.activeElement?.parentElement?.id === "f190" && document.querySelector("#f190 tr")',
  );
  expect(incidents).toEqual([]);
  await close();
});
