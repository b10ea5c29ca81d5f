/** A failure that people can act on: a value, since only bugs are thrown. */

/** `message` is one or more sentences for people: what failed, where, and what to do about it. */
export interface Failed {
  readonly status: 'failed';
  readonly message: string;
}

/** The failure with this message. */
export function failed(message: string): Failed {
  return { status: 'failed', message };
}
