/** The hidden line that a pull request keeps of its run. */

interface PullRecord extends Record<string, unknown> {
  readonly rounds: number;
}

const LINE = /<!-- patchsmith-record: (.*?) -->/;

/** The record in the text of a pull request; null where there is none. */
export function recordIn(body: string): PullRecord | null {
  const line = LINE.exec(body)?.[1];
  return line === undefined ? null : (JSON.parse(line) as PullRecord);
}

/** The text with another record. */
export function withRecord(body: string, record: object): string {
  return body.replace(LINE, () => `<!-- patchsmith-record: ${JSON.stringify(record)} -->`);
}
