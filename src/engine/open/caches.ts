/** Which caches of package managers commands may use: those of `--cache`. */

import type { SandboxOptions } from '../../adapters/sandboxes/options.ts';
import { managersOf } from '../../domain/packages/package-manager.ts';
import { type Warning, warning } from '../../domain/warnings/warning.ts';
import type { Checkout } from '../../git/checkout-layout.ts';
import { namesAtBase } from '../../git/revision.ts';
import type { RunInput } from '../run-input.ts';

/**
 * Nothing if none are asked for. `auto` goes by the files of the checked-out commit, which commands cannot have changed; null
 * for no checkout.
 */
export async function wantedCaches(
  { settings, env }: Pick<RunInput, 'settings' | 'env'>,
  checkout: Checkout | null,
  warn: (one: Warning) => void = () => undefined,
): Promise<Pick<SandboxOptions, 'caches'>> {
  if (settings.caches.length === 0) return {};
  const named = settings.caches.filter((manager) => manager !== 'auto');
  const isAuto = settings.caches.includes('auto');
  const found =
    isAuto && checkout !== null ? managersOf(await namesAtBase(checkout, [checkout.prefix], env)) : [];
  if (isAuto && checkout !== null && found.length + named.length === 0) {
    const where = checkout.prefix === '' ? 'the root' : `the root and ${checkout.prefix}`;
    warn(
      warning(
        'WARN_CACHE_MISSING',
        `--cache auto finds no lock file in ${where} of the commit that is checked out, so no cache is shown: name the package manager, as in --cache npm.`,
      ),
    );
  }
  return { caches: { named, found } };
}
