/** Recognises variables that contain secrets by their names. */

/** patchsmith's own variables contain none, nor do the action's inputs for limits and globs: `INPUT_MAX-TOTAL-TOKENS`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) || holdsHeaders(name);
}

/** The headers that a collector of telemetry is sent, a login among them: `OTEL_EXPORTER_OTLP_TRACES_HEADERS`. */
export function holdsHeaders(name: string): boolean {
  return /^OTEL_EXPORTER_OTLP_(?:[A-Z]+_)?HEADERS$/i.test(name);
}

const SECRET_NAME =
  /^(?!PATCHSMITH_|INPUT_(?:MAX|ACCEPT)-).*(?:KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|_(?:PAT|PASS|PWD|AUTH|JWT)$)/i;
