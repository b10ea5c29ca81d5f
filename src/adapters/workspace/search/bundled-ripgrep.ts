/** In place of `@vscode/ripgrep` in the bundle of the action, which has its binaries beside it: dist/rg/linux-x64/rg. */

import { fileURLToPath } from 'node:url';

/** Runners run actions of this kind on x64 and arm64. */
export const rgPath = fileURLToPath(new URL(`./rg/linux-${process.arch}/rg`, import.meta.url));
