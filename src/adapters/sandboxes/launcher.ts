/** The static program that starts commands in sandboxes: native/launcher.c, built for each processor by scripts/build-launcher.sh. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FilteredArch } from './bubblewrap/filter/system-calls.ts';
import { orMissing } from './host-files.ts';

/** SHA-256 of what that script makes. */
const HASHES: Readonly<Record<FilteredArch, string>> = {
  x64: 'aa5badbba236938ccfd26d62e730733b183bf1e5b4505d8358af302365189ab6',
  arm64: '801e8ce75f9bf64a5a207d9dff1eeb148f6a03b15abd6a6aab74eee899d6da6a',
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
