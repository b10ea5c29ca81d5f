/** A provider cannot be made from the settings given; the message says which one and how to mend it. */
export class ProviderSettingsError extends Error {
  override readonly name = 'ProviderSettingsError';
}
