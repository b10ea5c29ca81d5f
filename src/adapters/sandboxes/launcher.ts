/** The static program that starts commands in sandboxes: native/launcher.c, built for each processor by scripts/build-launcher.sh. */

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { orMissing } from './host-files.ts';

/** SHA-256 of what that script makes. */
const HASHES: Readonly<Record<'x64' | 'arm64', string>> = {
  x64: '026f300d5ee356744cb6653c12ec3342bf15a074f371a6d3f8353609f241c286',
  arm64: 'f6ecfaa3e1fff9b45854b9cc6df1eaa0c974127d2ae95884bd84f1b8d37d2292',
};

/** Beside the bundle, and where the sources have it. */
const PLACES = ['./launcher/', '../../../dist/launcher/'];

/** The launcher's path; null for another processor, or if its hash is not this version's. */
export function findLauncher(arch: string): string | null {
  const hash = arch === 'x64' || arch === 'arm64' ? HASHES[arch] : null;
  const paths = PLACES.map((place) => fileURLToPath(new URL(`${place}linux-${arch}`, import.meta.url)));
  return paths.find((path) => hash !== null && sha256(path) === hash) ?? null;
}

/** Why `findLauncher` has found none, as a sentence for people. */
export function whyNoLauncher(arch: string): string {
  return arch === 'x64' || arch === 'arm64'
    ? `${fileURLToPath(new URL(`./launcher/linux-${arch}`, import.meta.url))}, which starts commands in sandboxes, is missing or not of this version: install patchsmith again.`
    : `There is no sandbox for this processor (${arch}): it takes x86-64 or arm64.`;
}

function sha256(path: string): string | null {
  const bytes = orMissing(() => readFileSync(path));
  return bytes && createHash('sha256').update(bytes).digest('hex');
}
