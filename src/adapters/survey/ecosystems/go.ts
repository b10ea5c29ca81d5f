/** Go modules. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import { type Ecosystem, found, guessed } from '../project.ts';
import { cacheOf } from '../project-cache.ts';
import { plainVersion } from '../workflow-step.ts';

/** The entry of the registry. */
export const go: Ecosystem = {
  extensions: ['.go'],
  versionCommand: 'go version',
  manifests: ['go.mod'],
  async look(folder) {
    const lockfile = folder.first('go.sum');
    const isVendored = folder.names.has('vendor');
    const [, named = null] =
      /^(?:toolchain go|go[ \t]+)(\d[\d.]*)[ \t\r]*$/m.exec((await folder.text('go.mod')) ?? '') ?? [];
    const version = plainVersion(named);
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
          with: { 'go-version': version ?? 'stable', cache: 'false' },
        },
      ],
      guesses: version === null ? ['the latest Go, since go.mod names no version'] : [],
      makes: null,
      decisions: [],
    };
  },
};
