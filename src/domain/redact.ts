/** Keeps known secret values out of everything that is written, logged or sent to the model. */

/** Shorter values would blank out ordinary text. */
const MIN_SECRET_LENGTH = 8;

/** Replaces every known secret value, also in its JSON-escaped, URL-encoded, base64 and hex forms. */
export type Redact = (text: string) => string;

/** A multi-line secret is also known line by line. Values under 8 characters are not redacted. */
export function redactorFor(secrets: readonly string[]): Redact {
  const forms = new Set<string>();
  for (const secret of secrets.flatMap((value) => [value, ...value.split(/\r?\n/)])) {
    if (secret.length < MIN_SECRET_LENGTH) continue;
    const bytes = new TextEncoder().encode(secret);
    forms.add(secret);
    forms.add(JSON.stringify(secret).slice(1, -1));
    forms.add(encodeURIComponent(secret));
    forms.add(hexOf(bytes));
    forms.add(base64Of(bytes).replace(/=+$/, ''));
  }
  if (forms.size === 0) return (text) => text;
  // Longest first, so that a secret that contains another one is replaced whole.
  const sorted = [...forms].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(
    sorted.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'),
    'g',
  );
  return (text) => text.replace(pattern, '***');
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
