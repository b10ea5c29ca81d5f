/** Limits of what people read. */

import { type FieldError, validationFailed } from '../refusal.ts';

const MAX_TITLE = 256;
const MAX_BODY = 65_536;

/** Throws a 422 when a title or body is too long, or a title is blank. `title` undefined: there is none. */
export function checkText(resource: string, title: unknown, body: unknown): void {
  const errors: FieldError[] = [];
  const long = (field: string, max: number): void => {
    const message = `${field} is too long (maximum is ${max} characters)`;
    errors.push({ resource, code: 'custom', field, message });
  };
  if (title !== undefined && String(title ?? '').trim() === '')
    errors.push({ resource, code: 'missing_field', field: 'title' });
  if ([...String(title ?? '')].length > MAX_TITLE) long('title', MAX_TITLE);
  if ([...String(body ?? '')].length > MAX_BODY) long('body', MAX_BODY);
  if (errors.length > 0) throw validationFailed(...errors);
}
