/**
 * The program that reads documents, in a process of its own that has nothing and may do nothing: a document on stdin, its text
 * on stdout, as one line of JSON (`DocumentAnswer`).
 */

import { isPdf } from './kinds.ts';

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
    const { docxText } = await import('./docx.ts');
    return { text: docxText(bytes) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}
