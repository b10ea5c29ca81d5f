/**
 * The program that reads documents and pages, in a separate process without resources or permissions: it gets a
 * PDF document or an HTML page on stdin, and writes its text to stdout as one line of JSON (`ProgramAnswer` in reader.ts).
 */

import { isPdf } from './kinds.ts';

/** Maximum characters of text; may be exceeded by one page. */
const MAX_CHARS = 2_000_000;

const chunks: Buffer[] = [];
for await (const chunk of process.stdin as AsyncIterable<Buffer>) chunks.push(chunk);
process.stdout.write(JSON.stringify(await answerTo(Buffer.concat(chunks))));

async function answerTo(bytes: Buffer): Promise<{ text: string } | { why: string }> {
  try {
    if (isPdf(bytes)) return { text: await pdfText(bytes) };
    return { text: (await import('./html.ts')).htmlMarkdown(bytes.toString('utf8')) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}

/** The text page by page, as pdf.js finds it. Rejects if the file is broken or has a password. */
async function pdfText(bytes: Buffer): Promise<string> {
  const { getDocumentProxy } = await import('unpdf');
  const pdf = await getDocumentProxy(new Uint8Array(bytes), {
    // Nothing in a document becomes code.
    isEvalSupported: false,
    // Warnings would be printed.
    verbosity: 0,
    maxImageSize: 0,
  });
  const pages: string[] = [];
  let chars = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    if (chars > MAX_CHARS) {
      pages.push(`[The other ${pdf.numPages - number + 1} pages are left out.]`);
      break;
    }
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    const text = items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
    page.cleanup();
    pages.push(`[Page ${number} of ${pdf.numPages}]\n${text.trim() || '(no text: it may be a picture)'}\n`);
    chars += text.length;
  }
  return pages.join('\n');
}
