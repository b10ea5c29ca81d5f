import { expect, test } from 'vitest';
import { withoutHtml } from '../../../src/domain/errors/innermost-message.ts';

test.each([
  ['<html>\r\n<head><title>502 Bad\nGateway</title></head>', 'an HTML page titled "502 Bad Gateway"'],
  ['502 <!DOCTYPE html><HTML lang="en"><body><h1 class="x">Sorry</h1>', 'an HTML page titled "Sorry"'],
  ['<html><body><p>x</p></body></html>', 'an HTML page'],
  ['the field <html> is unknown', 'the field <html> is unknown'],
  ['{"error":"<html>"}', '{"error":"<html>"}'],
  ['', ''],
])('%j is told as %j', (text, said) => {
  expect(withoutHtml(text)).toBe(said);
});
