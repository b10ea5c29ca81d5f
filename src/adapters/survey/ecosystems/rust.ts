/** Rust with Cargo. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { at, type Ecosystem, found, keysAt } from '../project.ts';
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
      steps: [
        folder.first('rust-toolchain.toml', 'rust-toolchain') === null
          ? { name: 'Install Rust', run: 'rustup toolchain install stable' }
          : { name: 'Install Rust', run: 'rustup toolchain install' },
      ],
      guesses: [],
      makes: 'target',
      decisions: [],
    };
  },
};
