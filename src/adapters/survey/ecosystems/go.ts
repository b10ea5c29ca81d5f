/** Go modules. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { type Ecosystem, found, guessed } from '../project.ts';
import { cacheOf } from '../project-cache.ts';

/** The entry of the registry. */
export const go: Ecosystem = {
  extensions: ['.go'],
  versionCommand: 'go version',
  manifests: ['go.mod'],
  async look(folder) {
    const lockfile = folder.first('go.sum');
    const isVendored = folder.names.has('vendor');
    const needsPackages = lockfile !== null && !isVendored;
    const golangci = folder.first('.golangci.yml', '.golangci.yaml', '.golangci.toml');
    const lint =
      golangci === null
        ? guessed('go vet ./...', 'it comes with Go')
        : guessed('golangci-lint run', `${golangci} has its rules, but nothing installs it`);
    return {
      ecosystem: 'Go',
      manager: found('go', 'go.mod'),
      lockfile,
      setup: needsPackages ? [found('go mod download', 'go.sum')] : [],
      test: found('go test ./...', 'go.mod'),
      lint,
      build: found('go build ./...', 'go.mod'),
      domains: needsPackages ? HOSTS.go : [],
      cache: needsPackages ? cacheOf(folder, 'go') : null,
      steps: [
        {
          name: 'Install Go',
          uses: 'actions/setup-go',
          with: { 'go-version-file': `${folder.prefix}go.mod`, cache: 'false' },
        },
      ],
      guesses: [],
      makes: null,
      decisions: [],
    };
  },
};
