/** Finds out what the first message says about the repository, while other things are waited for. */

import { findProgram } from '../../adapters/sandboxes/command/shell.ts';
import { searchPath } from '../../adapters/sandboxes/visible/toolchains.ts';
import { orientation } from '../../domain/conversation/orientation.ts';
import type { Environment } from '../../domain/environment.ts';
import type { Sandbox } from '../../ports.ts';

/** Programs that are worth naming where they are on PATH. */
const PROGRAMS =
  'git node npm pnpm yarn bun deno python3 pip uv go cargo java mvn gradle ruby bundle php composer dotnet make cmake gcc';

/** What is known once the sandbox is open. */
interface SandboxSeen {
  readonly sandbox: Sandbox;
  readonly hosts: readonly string[];
}

/**
 * Begins to examine the working directory, without executing anything from it. What it returns gives the text of `orientation`,
 * which is empty if nothing is known.
 */
export function beginOrientation(folder: string, env: Environment): (opened: SandboxSeen) => Promise<string> {
  const looking = lookAt(folder);
  // Errors are reported at the end.
  looking.catch(() => undefined);
  return async ({ sandbox, hosts }) => {
    const { survey, files } = await looking;
    const path = searchPath(env);
    return orientation({
      files,
      project: survey.project && {
        ecosystem: survey.ecosystem?.name ?? '',
        manager: survey.project.manager.text,
        test: survey.project.test?.text ?? null,
        lint: survey.project.lint?.text ?? null,
        build: survey.project.build?.text ?? null,
      },
      programs: PROGRAMS.split(' ').filter((name) => findProgram(name, path) !== null),
      hosts: sandbox.level === 'none' ? null : hosts,
    });
  };
}

/** Loaded while the sandbox is being opened. */
async function lookAt(folder: string) {
  const { surveyRepository, trackedFiles } = await import('../../adapters/survey/survey.ts');
  const tracked = trackedFiles(folder);
  const [survey, files] = await Promise.all([surveyRepository(folder, () => tracked), tracked]);
  return { survey, files };
}
