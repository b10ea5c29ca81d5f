/** The recipes of docs/sandbox.md: the cache is filled from a local registry, which is closed before the sandbox opens. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { openSandbox } from '../../../../src/adapters/sandboxes/open.ts';
import type { PackageManager } from '../../../../src/domain/packages/package-manager.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { testAtNight } from '../../../support/setup/at-night.ts';
import { PATIENCE_MS } from '../../../support/waiting/patience.ts';
import { makePlace, PROJECT, versionOutside } from '../fixture.ts';

/** The commands of a section of the page, setup before verify. */
function recipe(name: string): string[] {
  const page = readFileSync(join(PROJECT, 'docs/sandbox.md'), 'utf8');
  const [, block = ''] = new RegExp(`\n### ${name}\n\n\`\`\`yaml\n(.*?)\`\`\``, 's').exec(page) ?? [];
  const { setup, verify } = parse(block) as { setup?: string; verify: string };
  return [...(setup === undefined ? [] : [setup]), verify];
}

const { RUSTUP_HOME = join(userInfo().homedir, '.rustup') } = process.env;

interface Project {
  readonly manager: PackageManager;
  /** Files of the repository; HOST stands for the address of the registry. */
  readonly files: Readonly<Record<string, string>>;
  /** What the registry answers, by path; HOST as above. */
  readonly answers: Readonly<Record<string, string | Buffer>>;
  /** Run outside, in the repository. */
  readonly fill: string;
}

/** Fills a cache of its own, and carries out the recipe with nothing but that. */
async function carryOut({ manager, files, answers, fill }: Project): Promise<void> {
  const server = createServer(({ url = '' }, response) => {
    const answer = answers[url];
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
  const env = { PATH, HOME, RUSTUP_HOME, ...(PYENV_ROOT === undefined ? {} : { PYENV_ROOT }) };
  const filled = fill.replaceAll('HOST', host);
  await execa('bash', ['-ec', filled], { cwd: place.root, env, extendEnv: false, timeout: PATIENCE_MS });
  server.closeAllConnections();
  server.close();

  const opened = await openSandbox({
    mode: 'required',
    root: place.root,
    agentGit: place.agentGit,
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
function archive(files: Readonly<Record<string, string>>): Buffer {
  const [top = ''] = Object.keys(files).map((path) => path.split('/')[0]);
  return execFileSync('tar', ['-cz', '-C', tempFolder(files), top]);
}

const without = (tool: string) => `${tool} is not installed on this machine`;

test('npm', async () => {
  const tiny = archive({
    'package/package.json': '{"name":"tiny","version":"1.0.0"}',
    'package/index.js': '',
  });
  const integrity = `sha512-${createHash('sha512').update(tiny).digest('base64')}`;
  const dist = { tarball: 'http://HOST/tiny/-/tiny-1.0.0.tgz', integrity };
  const version = { name: 'tiny', version: '1.0.0', dist };
  const packument = { name: 'tiny', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': version } };
  const scripts = { test: 'node -e \'require("tiny")\'' };
  await carryOut({
    manager: 'npm',
    files: {
      'package.json': JSON.stringify({ name: 'use', scripts, dependencies: { tiny: '1.0.0' } }),
      '.npmrc': 'registry=http://HOST/\naudit=false\nfund=false\nupdate-notifier=false\n',
    },
    answers: { '/tiny': JSON.stringify(packument), '/tiny/-/tiny-1.0.0.tgz': tiny },
    fill: 'npm install; rm -r node_modules',
  });
});

const WHEEL = `
import base64, hashlib, io, sys, zipfile
info = 'tiny-1.0.dist-info/'
files = {'tiny.py': 'VALUE = 1\\n', info + 'METADATA': 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n',
  info + 'WHEEL': 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n'}
digest = lambda text: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b'=').decode()
record = ''.join(f'{path},sha256={digest(text)},{len(text)}\\n' for path, text in files.items())
out = io.BytesIO()
with zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as wheel:
  for path, text in {**files, info + 'RECORD': record + info + 'RECORD,,\\n'}.items(): wheel.writestr(path, text)
sys.stdout.buffer.write(out.getvalue())`;

testAtNight('pip', async (context) => {
  if (versionOutside('python3 -m pip --version') === null) return context.skip(without('pip'));
  const name = 'tiny-1.0-py3-none-any.whl';
  const index = '--index-url http://HOST/simple/ --trusted-host HOST';
  await carryOut({
    manager: 'pip',
    files: { 'requirements.txt': 'tiny==1.0\n', 'test.py': 'import tiny\nassert tiny.VALUE == 1\n' },
    answers: {
      '/simple/tiny/': `<a href="/files/${name}">${name}</a>`,
      [`/files/${name}`]: execFileSync('python3', ['-c', WHEEL]),
    },
    fill: `python3 -m pip --isolated install ${index} --target filled -r requirements.txt; rm -r filled`,
  });
});

testAtNight('cargo', async (context) => {
  if (versionOutside(`RUSTUP_HOME='${RUSTUP_HOME}' cargo --version`) === null)
    return context.skip(without('cargo'));
  const manifest = '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n';
  const crate = archive({
    'tiny-1.0.0/Cargo.toml': manifest,
    'tiny-1.0.0/src/lib.rs': 'pub const VALUE: i32 = 1;\n',
  });
  const cksum = createHash('sha256').update(crate).digest('hex');
  const entry = { name: 'tiny', vers: '1.0.0', deps: [], cksum, features: {}, yanked: false };
  await carryOut({
    manager: 'cargo',
    files: {
      'Cargo.toml': `${manifest.replace('tiny', 'use')}[lib]\ndoctest = false\n[dependencies]\ntiny = { version = "1", registry = "local" }\n`,
      '.cargo/config.toml': '[registries.local]\nindex = "sparse+http://HOST/index/"\n',
      'src/lib.rs': '#[test]\nfn it() { assert_eq!(tiny::VALUE, 1); }\n',
    },
    answers: {
      '/index/config.json': '{"dl":"http://HOST/dl"}',
      '/index/ti/ny/tiny': `${JSON.stringify(entry)}\n`,
      '/dl/tiny/1.0.0/download': crate,
    },
    fill: 'cargo fetch',
  });
});
