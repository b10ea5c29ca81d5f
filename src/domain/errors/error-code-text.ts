/** The code of an error in a document. */

import * as z from 'zod';

/** Also one of another version, which this one does not have: a document is read by its form. */
export const ErrorCodeText = z.string().regex(/^ERR_[A-Z][A-Z_]{0,60}$/);
