/** Makes docs/report.png: the top of the report of the demo's run, as a browser shows it. `npm run docs:picture`, after a build. */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { openReport, startBrowser } from '../tests/support/browser/chromium.ts';

const home = mkdtempSync(join(tmpdir(), 'patchsmith-picture-'));
try {
  // The page names the folder of the demo's plan, which would be a private path.
  const installed = join(home, 'patchsmith');
  for (const folder of ['dist', 'fixtures']) cpSync(folder, join(installed, folder), { recursive: true });
  cpSync('package.json', join(installed, 'package.json'));
  symlinkSync(resolve('node_modules'), join(installed, 'node_modules'));
  const env = { PATH: process.env.PATH, HOME: home };
  execFileSync(process.execPath, [join(installed, 'dist/cli.js'), 'demo'], { env, stdio: 'ignore' });
  const runs = join(home, '.local/state/patchsmith');
  const [run = ''] = readdirSync(runs).filter((name) => /^\d{8}-/.test(name));
  const browser = await startBrowser();
  const { page, close } = await openReport(browser, join(runs, run, 'report.html'), { width: 1100 });
  await page.locator('#plan details > summary').click();
  await page.setViewportSize({ width: 1100, height: 1060 });
  await page.screenshot({ path: 'docs/report.png' });
  await close();
  await browser.close();
} finally {
  rmSync(home, { recursive: true, force: true });
}
