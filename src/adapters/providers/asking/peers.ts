/** Clients that are not part of this program, since only some users need them. */

import { oneLine } from '../../../domain/text/terminal.ts';
import { ProviderSettingsError } from '../settings-error.ts';

/**
 * Returns the client that `construct` makes of what `load` imports. Throws ProviderSettingsError with the command to type
 * if it is not installed next to this program, and for whatever else the vendor's code throws.
 */
export async function openPeer<Loaded, Client>(
  { provider, packages }: { provider: string; packages: readonly string[] },
  load: () => Promise<Loaded>,
  construct: (loaded: Loaded) => Client,
): Promise<Client> {
  const install = `npm install ${packages.join(' ')} (where patchsmith is installed, with --global if it is)`;
  try {
    return construct(await load());
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if ('code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new ProviderSettingsError(
        `The provider ${provider} needs a package that is not part of patchsmith: ${install}.`,
      );
    throw new ProviderSettingsError(
      `The client of the provider ${provider} cannot be used: ${oneLine(error.message, 500)}. Check its settings and its version: ${install}.`,
    );
  }
}
