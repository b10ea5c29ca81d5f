/** Carries out a recipe of docs/sandbox.md: the cache is filled from a local registry, which is closed before the sandbox opens. */

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { openSandbox } from '../../../../src/adapters/sandboxes/open.ts';
import type { PackageManager } from '../../../../src/domain/packages.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { PATIENCE_MS } from '../../../support/waiting/patience.ts';
import { makePlace, PROJECT } from '../fixture.ts';

/** What the page says to type, by the language of the block. */
function blockOf(name: string, language: 'sh' | 'yaml'): string | null {
  const page = readFileSync(join(PROJECT, 'docs/sandbox.md'), 'utf8');
  const [, section = ''] = page.split(`\n### ${name}\n`);
  const [own = ''] = section.split('\n## ')[0]?.split('\n### ') ?? [];
  return new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(own)?.[1] ?? null;
}

/** The commands of a recipe, setup before verify. */
function recipe(name: string): string[] {
  const { setup, verify } = parse(blockOf(name, 'yaml') ?? '') as { setup?: string; verify: string };
  return [...(setup === undefined ? [] : [setup]), verify];
}

/** Where rustup keeps its toolchains: the fill has another home. */
export const RUSTUP_HOME = process.env.RUSTUP_HOME ?? join(userInfo().homedir, '.rustup');

/** A repository, and the registry that its packages come from. */
export interface Project {
  readonly manager: PackageManager;
  /** Files of the repository; HOST stands for the address of the registry. */
  readonly files: Readonly<Record<string, string>>;
  /** What the registry answers, by path; HOST as above. */
  readonly answers: Readonly<Record<string, string | Buffer>>;
  /** Of this machine: what else the registry has, by path. */
  readonly folder?: string;
  /** Run outside, in the repository, unless the page says what to type there. */
  readonly fill?: string;
}

/** Undefined for what is no file. */
function contentOf(path: string): Buffer | undefined {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined;
}

/** Fills a cache of its own, and carries out the recipe with nothing but that. */
export async function carryOut({ manager, files, answers, folder, fill = '' }: Project): Promise<void> {
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url] ?? (folder === undefined ? undefined : contentOf(join(folder, url)));
    response.statusCode = answer === undefined ? 404 : 200;
    response.setHeader('cache-control', 'max-age=365000000, immutable');
    if (/\/$/.test(url)) response.setHeader('content-type', 'text/html');
    response.end(typeof answer === 'string' ? answer.replaceAll('HOST', host) : answer);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const texts = Object.entries(files).map(([path, text]) => [path, text.replaceAll('HOST', host)]);
  const place = makePlace();
  execFileSync('cp', ['-r', `${tempFolder(Object.fromEntries(texts))}/.`, place.root]);
  const HOME = tempFolder();
  const { PATH, PYENV_ROOT } = process.env;
  // For root, Yarn's would be the machine's.
  const YARN_CACHE_FOLDER = join(HOME, '.cache/yarn');
  const env = {
    PATH,
    HOME,
    RUSTUP_HOME,
    YARN_CACHE_FOLDER,
    ...(PYENV_ROOT === undefined ? {} : { PYENV_ROOT }),
  };
  const filled = (blockOf(manager, 'sh') ?? fill).replaceAll('HOST', host);
  await execa('bash', ['-ec', filled], { cwd: place.root, env, extendEnv: false, timeout: PATIENCE_MS });
  server.closeAllConnections();
  server.close();

  const opened = await openSandbox({
    mode: 'required',
    root: place.root,
    sandboxGitDir: place.sandboxGitDir,
    scratchDir: join(place.runDir, 'scratch'),
    hostEnv: env,
    caches: { named: [manager], found: [] },
  });
  if (opened.status !== 'ok') throw new Error(opened.reason);
  onTestFinished(() => opened.sandbox.close());
  for (const script of recipe(manager)) {
    const { signal } = new AbortController();
    const { end, output } = await opened.sandbox.run({
      script,
      timeoutMs: PATIENCE_MS,
      signal,
      isStrict: true,
    });
    expect(end.exitCode, `${script}\n${output.head}${output.tail}`).toBe(0);
  }
}

/** A gzipped tar of these files, all of which are in one folder. */
export function archive(files: Readonly<Record<string, string>>): Buffer {
  const [top = ''] = Object.keys(files).map((path) => path.split('/')[0]);
  return execFileSync('tar', ['-cz', '-C', tempFolder(files), top]);
}
