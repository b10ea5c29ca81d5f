/** Whether what a server gives as a schema is one: a model's API refuses the whole request for one that is not. */

import { Ajv2020 } from 'ajv/dist/2020.js';

/** Checks against the meta-schema of draft 2020-12. Nothing of the schema is compiled. */
export function schemaChecker(): (schema: Readonly<Record<string, unknown>>) => boolean {
  const ajv = new Ajv2020({ strict: false, logger: false });
  return (schema) => ajv.validateSchema({ ...schema }) === true;
}
