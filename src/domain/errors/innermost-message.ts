/** Why a connection failed, which clients put into the causes of their error. */

/**
 * The message of the innermost cause that has one: "fetch failed" alone is no help, and neither is an empty message, as an
 * error has that stands for several.
 */
export function innermostMessage(error: Error): string {
  const [first]: unknown[] = error instanceof AggregateError ? error.errors : [];
  const inner = error.cause instanceof Error ? error.cause : first;
  return (inner instanceof Error ? innermostMessage(inner) : '') || error.message;
}
