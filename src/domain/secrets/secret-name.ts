/** Which variables hold secrets, told by their names. */

/** patchsmith's own hold none, nor do the inputs of the action that are limits and globs: `INPUT_MAX-TOTAL-TOKENS`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

const SECRET_NAME =
  /^(?!PATCHSMITH_|INPUT_(?:MAX|ACCEPT)-).*(?:KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PAT|PASS|PWD|AUTH|JWT)$)/i;
