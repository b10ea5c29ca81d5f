/** Finds out what the first message says about the repository, while other things are waited for. */

import { orientation } from '../../domain/conversation/orientation.ts';
import type { Sandbox } from '../../ports.ts';

/** Programs that are worth naming when commands find them. */
const PROGRAMS =
  'git node npm pnpm yarn bun deno python3 pip uv go cargo java mvn gradle ruby bundle php composer dotnet make cmake gcc';

/** What is known once the sandbox is open. */
interface SandboxSeen {
  readonly sandbox: Sandbox;
  readonly hosts: readonly string[];
  readonly signal: AbortSignal;
}

/**
 * Begins to examine the working directory, without executing anything from it. What it returns gives the text of `orientation`,
 * which is empty if nothing is known.
 */
export function beginOrientation(folder: string): (opened: SandboxSeen) => Promise<string> {
  const looking = lookAt(folder);
  // Errors are reported at the end.
  looking.catch(() => undefined);
  return async ({ sandbox, hosts, signal }) => {
    const script = `for name in ${PROGRAMS}; do if command -v "$name" > /dev/null 2>&1; then echo "$name"; fi; done`;
    const [{ survey, files }, { output }] = await Promise.all([
      looking,
      sandbox.run({ script, timeoutMs: 2_000, signal }),
    ]);
    return orientation({
      files,
      project: survey.project && {
        ecosystem: survey.ecosystem?.name ?? '',
        manager: survey.project.manager.text,
        test: survey.project.test?.text ?? null,
        lint: survey.project.lint?.text ?? null,
        build: survey.project.build?.text ?? null,
      },
      programs: output.head.split('\n').filter((name) => PROGRAMS.split(' ').includes(name)),
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
