/** A provider cannot be created from the given settings; the message says which one is wrong and how to fix it. */
export class ProviderSettingsError extends Error {
  override readonly name = 'ProviderSettingsError';
}
