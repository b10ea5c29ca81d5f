/**
 * The program that reads documents and pages, in a separate process that has nothing and may do nothing: a document or
 * a page of HTML on stdin; its text on stdout, as one line of JSON (`Answer` of own-process.ts).
 */

import { isDocx, isPdf } from './kinds.ts';

/** Characters of text at most, but for those of one page. */
const MAX_CHARS = 2_000_000;

const chunks: Buffer[] = [];
for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
process.stdout.write(JSON.stringify(await textOf(Buffer.concat(chunks))));

async function textOf(bytes: Buffer): Promise<{ text: string } | { why: string }> {
  try {
    if (isPdf(bytes)) {
      const { pdfText } = await import('./pdf.ts');
      return { text: await pdfText(bytes, MAX_CHARS) };
    }
    if (isDocx(bytes)) {
      const { docxText } = await import('./docx.ts');
      return { text: docxText(bytes) };
    }
    const { htmlMarkdown } = await import('./html.ts');
    return { text: htmlMarkdown(bytes.toString('utf8')) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}
