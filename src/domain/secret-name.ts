/** Which variables hold secrets, told by their names. */

/** patchsmith's own hold none. */
export function isSecretName(name: string): boolean {
  return /^(?!PATCHSMITH_).*(?:KEY|TOKEN|SECRET|PASSW|CREDENTIAL|_PAT$)/i.test(name);
}
