/**
 * Puts the action's ripgrep beside its bundle: the binaries of the packages that package-lock.json pins, each package
 * checked against its hash in the lock file. Run it when the version of @vscode/ripgrep changes. dist/rg/NOTICES.txt
 * lists by hand what the binaries contain, and under which licences; a test says what is missing there.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const scratch = mkdtempSync(join(tmpdir(), 'ripgrep-'));
const sources = {};
for (const platform of ['linux-x64', 'linux-arm64']) {
  const name = `@vscode/ripgrep-${platform}`;
  const { version, integrity } = packages[`node_modules/${name}`];
  const packed = execFileSync('npm', ['pack', '--json', `${name}@${version}`], {
    cwd: scratch,
    encoding: 'utf8',
  });
  const archive = join(scratch, JSON.parse(packed)[0].filename);
  const hash = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (hash !== integrity) throw new Error(`${name} is not what package-lock.json pins: ${hash}`);
  execFileSync('tar', ['-xzf', archive, '-C', scratch]);
  const folder = join('dist', 'rg', platform);
  mkdirSync(folder, { recursive: true });
  const binary = join(folder, 'rg');
  cpSync(join(scratch, 'package', 'bin', 'rg'), binary);
  chmodSync(binary, 0o755);
  cpSync(join(scratch, 'package', 'LICENSE'), join('dist', 'rg', 'LICENSE'));
  rmSync(join(scratch, 'package'), { recursive: true });
  sources[platform] = { package: name, version, integrity, sha256: sha256(binary) };
}
writeFileSync(join('dist', 'rg', 'sources.json'), `${JSON.stringify(sources, null, 2)}\n`);
rmSync(scratch, { recursive: true });

function sha256(path) {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
