/** Decodes percent-encoding. */

/** Returned unchanged if a percent sign encodes nothing. */
export function percentDecoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}

/** The pairs of `name=value,other=value`, with percent-decoded values. Anything else is ignored. */
export function listedPairs(list: string): [name: string, value: string][] {
  return list.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    return name === '' ? [] : [[percentDecoded(name), percentDecoded(pair.slice(at + 1).trim())]];
  });
}

/** A text without the user part of its addresses, which may be a token; in quotes, also of one such as `me:TOKEN@host`. */
export function withoutUsers(text: string): string {
  return text.replace(/(:\/\/|"(?=[^/\s":]+:))[^/\s"]+@/g, '$1***@');
}
