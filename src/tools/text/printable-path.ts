/** How file names are shown to the model. */

/** Control characters, quotes, outer spaces, and lone surrogates, which represent bytes that are not UTF-8. */
const ODD = /[\p{Cc}\p{Surrogate}"]|^\s|\s$/u;

/**
 * An ordinary name unchanged, any other as a JSON string: on one line, without characters that cannot be sent, and the same
 * path again when the model repeats it in its own JSON.
 */
export function printablePath(path: string): string {
  return ODD.test(path) ? JSON.stringify(path) : path;
}
