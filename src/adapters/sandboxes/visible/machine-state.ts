/** The state outside the work tree that the results of commands depend on. */

import { statOfTarget } from '../host-files.ts';
import { FROM_HOST } from './environment.ts';
import { searchPath, type ToolchainHost, toolchainVariables } from './toolchains.ts';

/** The variables that commands get, and when a program was last added to, replaced in or removed from a folder of PATH. */
export function machineState(env: ToolchainHost['env']): unknown {
  return {
    passedOn: FROM_HOST.map((name) => env[name] ?? null),
    toolchains: toolchainVariables(env),
    programs: searchPath(env).map((folder) => [folder, statOfTarget(folder)?.ctimeMs ?? null]),
  };
}
