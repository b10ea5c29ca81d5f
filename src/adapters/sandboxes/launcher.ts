/** The static program that starts commands in sandboxes: native/launcher.c, built for each processor by scripts/build-launcher.sh. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FilteredArch } from './bubblewrap/filter/system-calls.ts';
import { orMissing } from './host-files.ts';

/** SHA-256 of what that script makes. */
const HASHES: Readonly<Record<FilteredArch, string>> = {
  x64: 'bef0e35d82a006fb555d23b51dffab90f687d054cdf465332a43d6cd9ba61266',
  arm64: '90a4c1fe81fca021fd5518ef4f373758d4bffc0fe277219ffd10fb65e69d7b86',
};

/** Beside the bundle, and where the sources have it. */
const PLACES = ['./launcher/', '../../../dist/launcher/'];

/** The launcher's path; null for another processor, or if its hash is not this version's. */
export function findLauncher(arch: string): string | null {
  const hash = arch === 'x64' || arch === 'arm64' ? HASHES[arch] : null;
  const paths = PLACES.map((place) => fileURLToPath(new URL(`${place}linux-${arch}`, import.meta.url)));
  return paths.find((path) => hash !== null && sha256(path) === hash) ?? null;
}

function sha256(path: string): string | null {
  const bytes = orMissing(() => readFileSync(path));
  return bytes && createHash('sha256').update(bytes).digest('hex');
}
