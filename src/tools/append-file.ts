/**
 * `append_file`: adds to the end of a file, for logs and lists that need not be read first. A run has it only if it is requested
 * by name.
 */

import * as z from 'zod';
import description from '../../prompts/tools/append_file.md';
import { formatNumber } from '../domain/text/words.ts';
import { fileTool, tooLarge, WellFormedText, written } from './file-tool.ts';
import { failedCall, PATH_ALIASES } from './result.ts';
import { describeNotText } from './text/not-text.ts';

const Input = z.strictObject({ path: z.string(), content: WellFormedText });
type Input = z.infer<typeof Input>;

/** Adds text to the end of a file. */
export const appendFileTool = fileTool<Input>({
  name: 'append_file',
  description,
  schema: Input,
  lane: 'write',
  aliases: { ...PATH_ALIASES, file_text: 'content', contents: 'content', text: 'content' },
  async execute({ path, content }, { workspace, seen }) {
    const current = await workspace.readFile(path);
    if (current.status === 'failed' && current.reason !== 'not_found')
      return failedCall(current.reason, current.message);
    const before = current.status === 'ok' ? current : { bytes: new Uint8Array(), text: '', blob: null };
    if (before.text === null) return failedCall('not_text', describeNotText(path, before.bytes));
    const eol = /\r\n/.test(before.text) && !/[^\r]\n/.test(before.text) ? '\r\n' : '\n';
    const joint = before.text === '' || before.text.endsWith('\n') ? '' : eol;
    const added = new TextEncoder().encode(joint + (eol === '\n' ? content : content.replace(/\r?\n/g, eol)));
    const length = before.bytes.length + added.length;
    const refused = tooLarge('the file would have', length);
    if (refused !== null) return refused;
    const wasKnown = before.blob === null || seen.coverage(path, before.blob) === 'all';
    const bytes = new Uint8Array(length);
    bytes.set(before.bytes);
    bytes.set(added, before.bytes.length);
    const write = await workspace.writeFile(path, bytes);
    if (write.status === 'failed') return failedCall(write.reason, write.message);
    if (wasKnown) seen.wrote(path, write.blob);
    const what = before.blob === null ? 'Created' : 'Added to';
    return written(
      `${what} ${JSON.stringify(path)}: ${formatNumber(added.length)} bytes, now ${formatNumber(length)}.`,
      write,
    );
  },
});
