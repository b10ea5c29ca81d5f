/** Rust with Cargo. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { at, type Ecosystem, type Folder, found, keysAt, textAt } from '../project.ts';
import { cacheOf } from '../project-cache.ts';

/** The entry of the registry. */
export const rust: Ecosystem = {
  extensions: ['.rs'],
  versionCommand: 'cargo --version',
  manifests: ['Cargo.toml'],
  async look(folder) {
    const manifest = await folder.toml('Cargo.toml');
    const lockfile = folder.first('Cargo.lock');
    const locked = lockfile === null ? '' : ' --locked';
    const all = at(manifest, 'workspace') === undefined ? '' : ' --workspace';
    const tables = ['dependencies', 'dev-dependencies', 'build-dependencies', 'workspace', 'target'];
    const needsPackages = tables.some((table) => keysAt(manifest, table).length > 0);
    const format =
      folder.first('rustfmt.toml', '.rustfmt.toml') ?? folder.inWorkflows('cargo fmt', 'rustfmt');
    return {
      ecosystem: 'Rust',
      manager: found('cargo', 'Cargo.toml'),
      lockfile,
      setup: needsPackages ? [found(`cargo fetch${locked}`, lockfile ?? 'Cargo.toml')] : [],
      test: found(`cargo test${locked}${all}`, 'Cargo.toml'),
      lint: format === null ? null : found('cargo fmt --all --check', format),
      build: found(`cargo build${locked}${all}`, 'Cargo.toml'),
      domains: needsPackages ? HOSTS.cargo : [],
      cache: needsPackages ? cacheOf(folder, 'cargo') : null,
      steps: [{ name: 'Install Rust', run: `rustup toolchain install ${await toolchainOf(folder)}` }],
      guesses: [],
      makes: 'target',
      decisions: [],
    };
  },
};

/** The toolchain that the project names, with its parts, as arguments of rustup. */
async function toolchainOf(folder: Folder): Promise<string> {
  const file = folder.first('rust-toolchain', 'rust-toolchain.toml') ?? 'rust-toolchain';
  const named = await folder.toml(file);
  const own = (key: string) => at(named, 'toolchain', key);
  const plain = (value: unknown) => [value].flat().filter((one) => /^[a-z\d][\w.-]{0,60}$/.test(String(one)));
  const written = textAt(named, 'toolchain', 'channel') ?? (await folder.text(file))?.trim();
  const [channel = 'stable'] = plain(written ?? 'stable');
  const parts = (option: string, values: unknown) => plain(values ?? []).map((one) => ` --${option} ${one}`);
  return [
    channel,
    ...parts('profile', own('profile')),
    ...parts('component', own('components')),
    ...parts('target', own('targets')),
  ].join('');
}
