/** Whether a server's schema is valid: a model's API refuses the whole request for an invalid one. */

import { Ajv2020 } from 'ajv/dist/2020.js';

/** Checks against the meta-schema of draft 2020-12. Does not compile the schema. */
export function schemaChecker(): (schema: Readonly<Record<string, unknown>>) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  return (schema) => ajv.validateSchema({ ...schema }) === true;
}
