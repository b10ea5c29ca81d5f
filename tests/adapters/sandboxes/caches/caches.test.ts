/** What commands get of the caches of package managers, and what nobody gets. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { getuid } from 'node:process';
import { expect, onTestFinished, test } from 'vitest';
import { openSandbox } from '../../../../src/adapters/sandboxes/open.ts';
import type { SandboxOptions, WantedCaches } from '../../../../src/adapters/sandboxes/options.ts';
import type { Sandbox } from '../../../../src/ports.ts';
import { tempFolder } from '../../../support/files/temp-folder.ts';
import { PATIENCE_MS } from '../../../support/waiting/patience.ts';
import { makePlace } from '../fixture.ts';

const CONTENT = '_cacache/content-v2/sha512/aa/bb/cc';
const INDEX = '_cacache/index-v5/dd';

function openWith(
  home: string,
  wanted: Partial<WantedCaches>,
  more: Partial<SandboxOptions & { env: Record<string, string> }> = {},
) {
  const { env = {}, ...options } = more;
  const { root, sandboxGitDir, runDir } = makePlace();
  const caches = { named: [], found: [], ...wanted };
  const hostEnv = { PATH: process.env.PATH, HOME: home, ...env };
  return openSandbox({
    mode: 'required',
    root,
    sandboxGitDir,
    scratchDir: join(runDir, 'scratch'),
    hostEnv,
    caches,
    ...options,
  });
}

async function openedWith(...given: Parameters<typeof openWith>) {
  const opened = await openWith(...given);
  if (opened.status !== 'ok') throw new Error(opened.reason);
  onTestFinished(() => opened.sandbox.close());
  return { ...opened, printed: (script: string) => printed(opened.sandbox, script) };
}

async function printed(sandbox: Sandbox, script: string): Promise<string> {
  const { signal } = new AbortController();
  const { output } = await sandbox.run({ script, timeoutMs: PATIENCE_MS, signal });
  return output.head + output.tail;
}

/** Every name and every byte below a folder. */
const all = (folder: string) =>
  execFileSync('sh', ['-c', 'find . | sort; find . -type f | sort | xargs cat'], {
    cwd: folder,
    encoding: 'utf8',
  });

test('commands use a cache as if it were theirs, together, and none of it reaches the real one', async () => {
  const secrets = tempFolder({ secret: 'canary-of-a-link\n' });
  const home = tempFolder({
    [`.npm/${CONTENT}`]: 'content\n',
    [`.npm/${INDEX}`]: 'index\n',
    '.npm/_logs/log': 'canary-of-the-log\n',
    '.npmrc': 'canary-of-npmrc\n',
    '.cargo/registry/src/reg/crate-1.0.0/lib.rs': 'lib\n',
    '.cargo/registry/credentials.toml': 'canary-at-the-top\n',
    '.cargo/credentials.toml': 'canary-of-cargo\n',
  });
  symlinkSync(join(secrets, 'secret'), join(home, '.npm/_cacache/content-v2/out'));
  symlinkSync(join(home, '.npm', CONTENT), join(home, '.npm/_cacache/content-v2/in'));
  const before = all(home);
  const { printed, sandbox, shown, warnings } = await openedWith(home, { named: ['npm', 'cargo'] });
  expect(warnings).toEqual([]);
  const places = [join(home, '.npm/_cacache'), join(home, '.cargo/registry')];
  expect(shown).toEqual(expect.arrayContaining(places.map((path) => ({ path, writable: false }))));

  expect(await printed(`cd ~/.npm; cat ${CONTENT} ${INDEX} _cacache/content-v2/in`)).toBe(
    'content\nindex\ncontent\n',
  );
  expect(await printed('cat ~/.cargo/registry/src/reg/crate-1.0.0/lib.rs; echo $CARGO_NET_OFFLINE')).toBe(
    'lib\ntrue\n',
  );
  expect(await printed('cat ~/.npm/_cacache/content-v2/out')).toContain('No such file');
  expect(await printed('grep -r -e canary-of -e canary-at /home /run 2> /dev/null; echo looked')).toBe(
    'looked\n',
  );

  // Whatever is there is overwritten, removed and replaced, by all of its names.
  const inside = '~/.npm/_cacache ~/.cargo/registry /run/patchsmith/caches';
  await printed(`
    for f in $(find ${inside} -mindepth 1 -depth); do echo planted >> $f; done
    rm -rf ~/.npm/_cacache/* /run/patchsmith/caches/npm-0/*; ln -s /run/patchsmith/caches/npm-0 ~/.npm/_cacache/base
    echo planted > ~/.npm/_cacache/base/planted; echo mine > ~/.npm/_cacache/mine`);
  expect(await printed('cat ~/.npm/_cacache/mine')).toBe('mine\n');
  await sandbox.close();
  expect(all(home)).toBe(before);
});

test('with a network, package managers prefer the cache, and without one they do not try', async () => {
  const home = tempFolder({
    [`.npm/${INDEX}`]: 'index\n',
    '.m2/repository/_remote.repositories': 'x',
    'go/pkg/mod/cache/download/x': 'x',
  });
  const script =
    'env | grep -E "^(npm_config|GOPROXY)"; cat ~/.m2/settings.xml; ls -a ~/.m2/repository ~/go/pkg/mod';
  const named = ['npm', 'maven', 'go'] as const;
  const closed = await openedWith(home, { named });
  const said = await closed.printed(script);
  expect(said).toContain('npm_config_offline=true\n');
  expect(said).toContain('GOPROXY=file:///run/patchsmith/caches/go-0/cache/download,off\n');
  expect(said).toContain('<offline>true</offline>');
  expect(said).not.toContain('_remote');
  const open = await openedWith(home, { named }, { isNetworkClosed: false });
  const then = await open.printed(script);
  expect(then).toContain('npm_config_prefer_offline=true\n');
  expect(then).toContain('cache/download,https://proxy.golang.org,direct\n');
  expect(then).not.toContain('offline>true');
});

test('a cache that is missing is refused by name, and warned of where a lock file asked for it', async () => {
  const home = tempFolder({ [`.npm/${INDEX}`]: 'index\n' });
  const missing = `--cache uv: there is no ${home}/.cache/uv. Fill it with "uv sync" on this machine, or say where it is with UV_CACHE_DIR.`;
  expect(await openWith(home, { named: ['npm', 'uv'] })).toEqual({ status: 'refused', reason: missing });
  const { warnings, printed } = await openedWith(home, { found: ['npm', 'uv'] });
  expect(warnings).toEqual([`[WARN_CACHE_MISSING] ${missing}`]);
  expect(await printed(`cat ~/.npm/${INDEX}`)).toBe('index\n');
});

test('a cache is where its variable says, and refused where it may not be shown', async () => {
  const elsewhere = tempFolder({ [INDEX]: 'moved\n' });
  const home = tempFolder({ '.ssh/_cacache/key': 'canary\n', [`.npm/${INDEX}`]: 'index\n' });
  const { printed } = await openedWith(home, { named: ['npm'] }, { env: { npm_config_cache: elsewhere } });
  expect(await printed(`cat ~/.npm/${INDEX}`)).toBe('moved\n');

  const inKeys = { env: { npm_config_cache: join(home, '.ssh') } };
  const keys = `--cache npm: ${home}/.ssh/_cacache: it holds credentials.`;
  expect(await openWith(home, { named: ['npm'] }, inKeys)).toEqual({ status: 'refused', reason: keys });
  // By way of a link as well, and for a lock file as well.
  const linked = tempFolder();
  symlinkSync(join(home, '.ssh/_cacache'), join(linked, '_cacache'));
  const env = { npm_config_cache: linked };
  const byLink = `--cache npm: ${linked}/_cacache: it holds credentials.`;
  expect(await openWith(home, { found: ['npm'] }, { env })).toEqual({ status: 'refused', reason: byLink });

  const twice = `--cache npm: ${home}/.npm/_cacache: --mount ${home}/.npm shows it too; give one of them.`;
  const mounts = [`${home}/.npm:rw`];
  expect(await openWith(home, { named: ['npm'] }, { mounts })).toEqual({ status: 'refused', reason: twice });
});

test.runIf(getuid?.() === 0)('the cache of root has the place that Yarn 1 gives it', async () => {
  const home = tempFolder();
  const refused = await openWith(
    home,
    { named: ['yarn'] },
    { env: { YARN_CACHE_FOLDER: join(home, 'none') } },
  );
  expect(refused).toMatchObject({ reason: expect.stringContaining(`there is no ${home}/none and no`) });
});

test("Gradle's cache is where its metadata says, and its layer is empty", async () => {
  const modules = '.gradle/caches/modules-2';
  const home = tempFolder({
    [`${modules}/files-2.1/tiny.jar`]: 'jar\n',
    [`${modules}/metadata-2.106/module-artifact.bin`]: 'new\n',
    [`${modules}/modules-2.lock`]: '',
    '.gradle/caches/8.5/big': 'x\n',
  });
  const before = all(home);
  const { printed } = await openedWith(home, { named: ['gradle'] });
  const script = [
    'echo "$GRADLE_RO_DEP_CACHE"; cat ~/.gradle/init.d/offline.gradle',
    `cat ${home}/${modules}/files-2.1/tiny.jar; echo no > ${home}/${modules}/files-2.1/tiny.jar`,
    'cd ~/.gradle/caches; find . -type f; touch written',
  ];
  expect((await printed(script.join('\n'))).replace(/^.*: line \d+: /m, '').split('\n')).toEqual([
    `${home}/.gradle/caches`,
    'gradle.startParameter.offline = true',
    'jar',
    `${home}/${modules}/files-2.1/tiny.jar: Read-only file system`,
    '',
  ]);
  expect(all(home)).toBe(before);
});

test('without a sandbox there are no caches, and a warning says why', async () => {
  const home = tempFolder({ [`.npm/${INDEX}`]: 'index\n' });
  const opened = await openedWith(home, { named: ['npm'] }, { mode: 'off' });
  expect(opened.warnings).toEqual([
    '[WARN_NO_EFFECT_WITHOUT_SANDBOX] --cache HAS NO EFFECT: without a sandbox, commands could write into the caches of this machine.',
  ]);
  expect(await opened.printed('ls ~/.npm')).toContain('No such file');
});

test('a link of a layer leads to where commands see the cache, not to the machine', async () => {
  const home = tempFolder({ '.cache/uv/archive-v0/x/file': 'x\n' });
  mkdirSync(join(home, '.cache/uv/wheels-v5'));
  symlinkSync(join(home, '.cache/uv/archive-v0/x'), join(home, '.cache/uv/wheels-v5/x'));
  const { printed } = await openedWith(home, { named: ['uv'] });
  expect(await printed('cat ~/.cache/uv/wheels-v5/x/file; readlink ~/.cache/uv/wheels-v5/x')).toBe(
    'x\n/run/patchsmith/caches/uv-0/archive-v0/x\n',
  );
  expect(readlinkSync(join(home, '.cache/uv/wheels-v5/x'))).toBe(join(home, '.cache/uv/archive-v0/x'));
});
