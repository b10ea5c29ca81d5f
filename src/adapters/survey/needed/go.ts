/** Go modules that are in no cache. */

import { HOSTS } from '../../../domain/packages/installers.ts';
import type { Folder } from '../project.ts';
import type { NeededPackages } from './needed.ts';

const GO = /^go (?:test|build|vet)(?: -(?:v|race|short|cover|count=\d+|timeout=\w+))*((?: \.[\w./-]*)+)$/;
const REQUIRED = /^(?:require )?[ \t]*([\w.~/-]{1,200}) (v[\w.+-]{1,100})$/gm;

/**
 * A module may be for another platform, so `go list` decides whether the packages need the missing ones. It reads
 * imports and runs nothing from the project; it is used only if none of the modules is in the cache.
 */
export async function ofGo(folder: Folder, command: string): Promise<NeededPackages | null> {
  const [, packages] = GO.exec(command) ?? [];
  if (packages === undefined || !folder.names.has('go.sum') || folder.names.has('vendor')) return null;
  const required = [...((await folder.text('go.mod')) ?? '').matchAll(REQUIRED)];
  const [, name] = required[0] ?? [];
  if (name === undefined || folder.names.has('go.work')) return null;
  const archives = required.map(([, module = '', version = '']) => {
    // The cache also supports case-insensitive file systems.
    const [path, at] = [module, version].map((text) => text.replace(/[A-Z]/g, (c) => `!${c.toLowerCase()}`));
    return `"$cache"/${path}/@v/${at}.zip`;
  });
  return {
    command,
    manager: 'go',
    what: `the module ${name} of go.mod is not in Go's module cache`,
    look: [
      `case $GOPROXY in file://*) cache=\${GOPROXY#file://}; cache=\${cache%%,*};; *) cache=$(go env GOMODCACHE)/cache/download;; esac`,
      `for file in ${archives.join(' ')}; do [ ! -e "$file" ] || exit 0; done`,
      `said=$(GOPROXY=\${GOPROXY:-off} GOFLAGS= timeout 20 go list -deps -test${packages} 2>&1 || :)`,
      'case $said in *GOPROXY=off*) exit 1;; esac',
    ].join('\n'),
    line: 'go mod download',
    hosts: HOSTS.go,
  };
}
