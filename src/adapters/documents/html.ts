/** HTML as Markdown. Executes and loads nothing from the page. */

import { gfm } from '@joplin/turndown-plugin-gfm';
import Turndown from 'turndown';

/** A page that is nested deeply enough takes forever, or throws a RangeError. */
export function htmlMarkdown(html: string): string {
  const turndown = new Turndown({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
  turndown.use(gfm);
  turndown.remove(['script', 'style', 'noscript', 'iframe', 'template', 'object', 'embed', 'canvas']);
  // Pictures are not visible, and their addresses are long.
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
