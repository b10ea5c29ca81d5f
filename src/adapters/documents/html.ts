/** HTML as Markdown. Nothing of the page is executed or loaded. */

import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';

/** Nested deeply enough, a page takes for ever, or throws a RangeError. */
export function htmlMarkdown(html: string): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  turndown.use(gfm);
  turndown.remove(['script', 'style', 'noscript', 'iframe', 'template', 'object', 'embed', 'canvas']);
  // Pictures cannot be seen, and their addresses are long.
  turndown.addRule('pictures', {
    filter: ['img', 'svg' as 'img', 'picture', 'video', 'audio'],
    replacement: (_content, node) => ('getAttribute' in node && node.getAttribute('alt')?.trim()) || '',
  });
  turndown.addRule('hidden', {
    filter: (node) => node.hasAttribute('hidden') || node.getAttribute('aria-hidden') === 'true',
    replacement: () => '',
  });
  return turndown.turndown(html);
}
