/** JSON that can be embedded in an element of a page: nothing in it ends the element, opens a comment or is live in a log. */

import { inertJson } from '../text/terminal.ts';

/** A lone surrogate is escaped, so that the page can be written as UTF-8. */
export function pageJson(value: unknown): string {
  return inertJson(JSON.stringify(value)).replaceAll('<', '\\u003c');
}
