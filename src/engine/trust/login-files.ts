/** Files with which clouds log in: in the work tree, the model and its commands could read them. */

import { realpathSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';
import type { Environment } from '../../domain/environment.ts';

/** Variables that name one. `google-github-actions/auth` writes its file into the checkout. */
const VARIABLES = [
  'GOOGLE_APPLICATION_CREDENTIALS',
  'GOOGLE_GHA_CREDS_PATH',
  'CLOUDSDK_AUTH_CREDENTIAL_FILE_OVERRIDE',
  'AWS_SHARED_CREDENTIALS_FILE',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AZURE_FEDERATED_TOKEN_FILE',
];

interface ProcessPlace {
  readonly env: Environment;
  readonly cwd: string;
}

/** Which of these files lies below `root`, as a sentence; null when none does. Whole paths are hidden like secrets. */
export function whyLoginShown(root: string, { env, cwd }: ProcessPlace): string | null {
  for (const name of VARIABLES) {
    const value = env[name];
    const file = value ? realPath(resolve(cwd, value)) : null;
    if (file !== null && isWithin(file, root))
      return `The file of ${name} lies in the work tree (${relative(root, file)}), where the model and its commands can read it. Move it out, and let the variable name its new place.`;
  }
  return null;
}

function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return null;
    throw error;
  }
}
