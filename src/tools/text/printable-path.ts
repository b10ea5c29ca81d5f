/** File names as the model is shown them. */

/** Control characters, quotes, outer spaces, and lone surrogates, which stand for bytes that are not UTF-8. */
const ODD = /[\p{Cc}\p{Surrogate}"]|^\s|\s$/u;

/**
 * An ordinary name as it is, an odd one as a JSON string: on one line, free of characters that cannot be sent, and
 * when the model repeats it in its own JSON it is the same path again.
 */
export function printablePath(path: string): string {
  return ODD.test(path) ? JSON.stringify(path) : path;
}
