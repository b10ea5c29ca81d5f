/** `web_fetch`: a page of the web as text. A run has it where `--web-fetch` names hosts. */

import * as z from 'zod';
import description from '../../prompts/tools/web_fetch.md';
import { formatNumber } from '../domain/text/words.ts';
import type { PageReader } from '../ports/network.ts';
import type { Tool } from '../ports.ts';
import { failedCall, literalCall, said } from './result.ts';

const Input = z.strictObject({ url: z.string().min(1), offset: z.int().min(0).optional() });
type Input = z.infer<typeof Input>;

/** Reads a page. */
export function webFetchTool(pages: PageReader): Tool<Input> {
  return {
    name: 'web_fetch',
    description,
    schema: Input,
    lane: 'read',
    isOutside: true,
    async execute({ url, offset = 0 }, { signal }) {
      const page = await pages.read(url, signal);
      if (page.status === 'failed') return failedCall(page.reason, page.message);
      const { text } = page;
      if (offset > 0 && offset >= text.length)
        return failedCall('invalid_input', `The page has ${formatNumber(text.length)} characters.`);
      const cut = page.isCut ? ', of which the rest was not read' : '';
      const from =
        offset === 0 ? '' : `, from character ${formatNumber(offset)} of ${formatNumber(text.length)}`;
      const head = `[${page.url} (${page.type || 'text'}, ${formatNumber(page.bytes)} bytes${cut}${from})]\n\n`;
      return {
        ...said(`${head}${text.slice(offset) || '(the page is empty)'}`),
        next: (shown) =>
          literalCall('web_fetch', { url, offset: offset + Math.max(0, shown.length - head.length) }),
      };
    },
  };
}
