/** Replaces `@vscode/ripgrep` in the bundle of the action, which ships its own binaries: dist/rg/linux-x64/rg. */

import { fileURLToPath } from 'node:url';

/** GitHub runners for actions are x64 or arm64. */
export const rgPath = fileURLToPath(new URL(`./rg/linux-${process.arch}/rg`, import.meta.url));
