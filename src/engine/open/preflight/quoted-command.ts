/** Names a command in a sentence. */

import { oneLine } from '../../../domain/text/terminal.ts';

/** In quotes and on one line, cut if it is long. */
export function quotedCommand(text = ''): string {
  return oneLine(JSON.stringify(text), 300);
}
