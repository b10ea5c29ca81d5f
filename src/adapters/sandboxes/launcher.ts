/** The static program that starts commands in sandboxes: native/launcher.c, built for each processor by scripts/build-launcher.sh. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { FilteredArch } from './bubblewrap/filter/system-calls.ts';
import { orMissing } from './host-files.ts';

/** SHA-256 of what that script makes. */
const HASHES: Readonly<Record<FilteredArch, string>> = {
  x64: '916515b29940dffa14917bd8d4e6a971f39a90ec63e053b5775b021c663f480e',
  arm64: 'c708c0118ebcd31513e1567ac249c69483bbeccb947a382294b72cb1a6aef139',
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
