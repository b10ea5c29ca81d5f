/** The names that `--setup-env` takes. */

import * as z from 'zod';

const OURS =
  /^(?:PATH|HOME|TMPDIR|TERM|USER|ENV|BASH_\w*|IFS|LD_\w*|GIT_\w*|PATCHSMITH_\w*|SANDBOX_\w*|PERL\w*|\w*_PROXY|npm_config_(?:https?_)?proxy)$/i;

/** A variable of the environment that does not decide how commands are contained, or which programs they find. */
export const SetupVariable = z
  .string()
  .trim()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of a variable, such as NPM_TOKEN')
  .refine((name) => !OURS.test(name), 'the sandbox decides about this variable');
