/** The text of a PDF document, page by page, as pdf.js finds it. */

import { getDocumentProxy } from 'unpdf';

/**
 * Returns at most about `maxChars` characters, then a note that there is more. Rejects with pdf.js's own errors if
 * the file is broken or has a password.
 */
export async function pdfText(bytes: Buffer, maxChars: number): Promise<string> {
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
    if (chars > maxChars) {
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
