/** `search`: matching lines of the files that git would see. */

import * as z from 'zod';
import description from '../../prompts/tools/search.md';
import type { SearchMatch } from '../ports/workspace.ts';
import { fileTool } from './file-tool.ts';
import { failedCall, printablePath, said } from './result.ts';

/** Maximum number of matching lines shown by one call. */
const MAX_MATCHES = 200;

const Input = z.strictObject({
  pattern: z.string().min(1),
  path: z.string().optional().describe('File or folder'),
  glob: z.string().min(1).optional(),
});
type Input = z.infer<typeof Input>;

/** Searches files for a regular expression. */
export const searchTool = fileTool<Input>({
  name: 'search',
  description,
  schema: Input,
  lane: 'read',
  aliases: { query: 'pattern', regex: 'pattern', include: 'glob' },
  async execute({ pattern, path, glob }, { workspace, signal }) {
    const found = await workspace.search({
      pattern,
      path,
      glob: glob ?? null,
      maxMatches: MAX_MATCHES,
      signal,
    });
    if (found.status === 'failed') return failedCall(found.reason, found.message);
    if (found.matches.length === 0) return said('(no matches)');
    const more = found.more
      ? `\n[More than ${MAX_MATCHES} lines match: narrow the search with path or glob.]`
      : '';
    return said(`${found.matches.map(lineOf).join('\n')}${more}`);
  },
});

/** A character that would break the line or cannot be sent becomes the replacement character. */
function lineOf(match: SearchMatch): string {
  return `${printablePath(match.path)}:${match.line}:${match.text.replace(/[\n\p{Surrogate}]/gu, '\ufffd')}`;
}
