/** Keeps known secret values out of everything that is written, logged or sent to the model. */

/** Shorter values would blank out ordinary text. */
const MIN_SECRET_LENGTH = 8;

/** Replaces every known secret value, also in its JSON-escaped, URL-encoded, base64 and hex forms. */
export type Redact = (text: string) => string;

/** A multi-line secret is also known line by line. Values under 8 characters are not redacted. */
export function redactorFor(secrets: readonly string[]): Redact {
  const forms = formsOf(secrets);
  if (forms.length === 0) return (text) => text;
  const pattern = new RegExp(forms.map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, '***');
}

/**
 * For text that arrives in pieces and has been redacted so far: how many of its last characters may be the beginning of
 * a secret, so that they have to wait for the next piece before they are shown.
 */
export function openEndOf(secrets: readonly string[]): (text: string) => number {
  const forms = formsOf(secrets);
  return (text) => Math.max(0, ...forms.map((form) => openEnd(text, form)));
}

/**
 * JSON in which every string, names of fields included, has been redacted before it was written: numbers and structure
 * stay whole, whatever the secrets are.
 */
export function redactedJson(value: unknown, redact: Redact, indent?: number): string {
  return JSON.stringify(redactedStrings(value, redact), null, indent);
}

/** The same value where nothing was to be redacted, else a copy. */
function redactedStrings(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const parts = value.map((part) => redactedStrings(part, redact));
    return parts.every((part, at) => part === value[at]) ? value : parts;
  }
  let changed = false;
  const fields = Object.entries(value).map(([name, part]) => {
    const field = [redact(name), redactedStrings(part, redact)] as const;
    changed ||= field[0] !== name || field[1] !== part;
    return field;
  });
  return changed ? Object.fromEntries(fields) : value;
}

/** Longest first, so that a secret that contains another one is replaced whole. */
function formsOf(secrets: readonly string[]): string[] {
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
  return [...forms].sort((a, b) => b.length - a.length);
}

function openEnd(text: string, form: string): number {
  for (let length = Math.min(form.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(form.slice(0, length))) return length;
  }
  return 0;
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}
