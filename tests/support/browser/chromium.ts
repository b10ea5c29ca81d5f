/** A real browser, in which a file is opened as its reader opens it, and everything that it does is watched. */

import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

/** Where the browser is on the PATH; `scripts/install-bubblewrap.sh tests` installs it. */
function browserPath(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const found = ['chromium', 'google-chrome', 'chromium-browser']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error('There is no Chromium: sh scripts/install-bubblewrap.sh tests');
  return found;
}

/** Starts it, without anything that it would do of its own accord. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: browserPath(),
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
}

/** A page that was opened, and what it did that it must not do. */
export interface OpenedPage {
  readonly page: Page;
  /** Requests, errors, violations of its policy and dialogs, as they happened. */
  readonly incidents: string[];
  close(): Promise<void>;
}

/** How a page is looked at. */
export interface Look {
  readonly width?: number;
  readonly theme?: 'light' | 'dark';
  /** Of the address, with its `#`. */
  readonly hash?: string;
}

/** Opens a file once its report is built. */
export async function openReport(browser: Browser, path: string, look: Look = {}): Promise<OpenedPage> {
  const { width = 1440, theme = 'light', hash = '' } = look;
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  const incidents: string[] = [];
  const { href } = pathToFileURL(path);
  page.on('request', (request) => {
    if (!request.url().startsWith(href) && request.url() !== 'data:,')
      incidents.push(`request: ${request.url()}`);
  });
  page.on('console', (message) => incidents.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => incidents.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(href + hash);
  await page.locator('#files').waitFor({ state: 'attached' });
  return { page, incidents, close: () => context.close() };
}

/** What axe finds wrong with the page as it is, as `rule: element`. */
export async function inaccessible(page: Page): Promise<string[]> {
  const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
  // The page's policy would refuse it as an element; so it is evaluated, as a debugger does.
  await page.evaluate(readFileSync(axe, 'utf8'));
  const { violations } = await page.evaluate<{
    violations: { id: string; nodes: { html: string }[] }[];
  }>('axe.run(document, { resultTypes: ["violations"] })');
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
