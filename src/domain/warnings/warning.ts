/** A warning: a sentence for people, behind the code that says which one it is. */

import type { WarningCode } from './registry.ts';

/** `[WARN_SUBMODULES_LEFT_OUT] Submodules are left out: lib.` A plain text is not one. */
export type Warning = `[${WarningCode}] ${string}`;

/** The warning with this code; `text` says what it is this time. */
export function warning(code: WarningCode, text: string): Warning {
  return `[${code}] ${text}`;
}

/** What it says, for a message with its own code. */
export function warningText(warning: Warning): string {
  return warning.slice(warning.indexOf(']') + 2);
}
