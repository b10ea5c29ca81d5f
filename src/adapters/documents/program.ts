/**
 * The program that reads documents and pages, in a separate process without resources or permissions: it gets a
 * document or an HTML page on stdin, and writes its text to stdout as one line of JSON (`Answer` in reader.ts).
 */

import { isDocx, isPdf } from './kinds.ts';

/** Maximum characters of text; may be exceeded by one page. */
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
