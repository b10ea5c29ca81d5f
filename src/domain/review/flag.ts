/** Properties of a change that deserve a second look. */

import * as z from 'zod';

/** Why a path deserves it. */
export const FLAGS = {
  workflow: 'runs in CI with its permissions',
  action: 'is a step of workflows',
  code_owners: 'says who has to review',
  own_settings: 'says what patchsmith does in later runs',
  principles: 'tells agents what to do in later runs',
  agent_files: 'tells other agents what to do, or is run by them',
  tool_hooks: 'is run or obeyed by editors, shells or git hooks of people who open the repository',
  toolchain: 'says which programs build the project, and may name one of its own',
  lock_file: 'says which packages are installed',
  package_scripts: 'runs when packages are installed, built or tested',
  package_sources: 'says where packages come from, or is executed when they are installed',
  ci: 'runs in CI with its permissions',
  build_files: 'runs when the project is built',
  git_attributes: 'changes how git shows, merges and checks out files',
  submodules: 'says which other repositories are checked out',
  link_outside: 'leads out of the repository',
  executable_added: 'became executable',
  tests_deleted: 'was a test file and is gone',
  tests_skipped: 'has more tests that are skipped, expected to fail, or run alone',
  tests_weakened: 'has fewer tests or assertions',
} as const;
/** The name of a reason. */
export type FlagName = keyof typeof FLAGS;

/** A path of a patch that deserves a second look, as in `result.json`. */
export const Flag = z.strictObject({
  path: z.string(),
  flag: z.enum(Object.keys(FLAGS) as [FlagName, ...FlagName[]]),
  detail: z.string().describe('What was counted or found; may be empty'),
});
export type Flag = z.infer<typeof Flag>;
