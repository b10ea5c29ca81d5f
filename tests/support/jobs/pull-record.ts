/** The hidden line that a pull request keeps of its run. */

const LINE = /<!-- patchsmith-record: (.*?) -->/;

/** The record in the text of a pull request; null where there is none. */
export function recordIn(body: string): Record<string, unknown> | null {
  const line = LINE.exec(body)?.[1];
  return line === undefined ? null : (JSON.parse(line) as Record<string, unknown>);
}

/** The text with another record. */
export function withRecord(body: string, record: object): string {
  return body.replace(LINE, () => `<!-- patchsmith-record: ${JSON.stringify(record)} -->`);
}
