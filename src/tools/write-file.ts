/** `write_file`: a whole file, byte for byte. */

import * as z from 'zod';
import description from '../../prompts/tools/write_file.md';
import { formatNumber, pluralize } from '../domain/text/words.ts';
import { fileTool, tooLarge, WellFormedText, written } from './file-tool.ts';
import { failedCall, literalCall, PATH_ALIASES } from './result.ts';
import { countLines } from './text.ts';

const Input = z.strictObject({ path: z.string(), content: WellFormedText });
type Input = z.infer<typeof Input>;

/** Writes a whole file. */
export const writeFileTool = fileTool<Input>({
  name: 'write_file',
  description,
  schema: Input,
  lane: 'write',
  aliases: { ...PATH_ALIASES, file_text: 'content', contents: 'content' },
  async execute({ path, content }, { workspace, seen }) {
    const bytes = new TextEncoder().encode(content);
    const refused = tooLarge('the content has', bytes.length);
    if (refused !== null) return refused;
    const current = await workspace.readFile(path);
    if (current.status === 'ok' && seen.coverage(path, current.blob) === 'part') {
      return failedCall('conflict', partlySeen(path, current.text ?? ''));
    }
    const write = await workspace.writeFile(path, bytes);
    if (write.status === 'failed') return failedCall(write.reason, write.message);
    seen.wrote(path, write.blob);
    return written(
      `${write.created ? 'Created' : 'Replaced'} ${JSON.stringify(path)}: ${pluralize(bytes.length, 'byte')}.`,
      write,
    );
  },
});

/** Names both halves, since a file whose output was cut once would be cut again. */
function partlySeen(path: string, text: string): string {
  const total = countLines(text);
  const half = Math.max(1, Math.ceil(total / 2));
  const calls = [{ path, offset: 1, limit: half }, ...(half < total ? [{ path, offset: half + 1 }] : [])];
  const next = calls.map((input) => literalCall('read_file', input)).join(' and ');
  return (
    `Not written: only a part of ${JSON.stringify(path)} (${formatNumber(total)} lines) has been shown, and the rest would be lost. ` +
    `Change it with edit_file, or read the rest first: ${next}`
  );
}
