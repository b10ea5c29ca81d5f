/** Clients that are not part of this program, since only some users need them. */

import { ProviderSettingsError } from '../settings-error.ts';

/**
 * Returns what `load` imports. Throws ProviderSettingsError with the command to type if it is not installed next to
 * this program.
 */
export async function loadPeer<Loaded>(
  provider: string,
  packages: readonly string[],
  load: () => Promise<Loaded>,
): Promise<Loaded> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')) throw error;
    throw new ProviderSettingsError(
      `The provider ${provider} needs a package that is not part of patchsmith: npm install ${packages.join(' ')} (where patchsmith is installed, with --global if it is).`,
    );
  }
}
