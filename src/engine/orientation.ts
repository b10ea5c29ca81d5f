/** Finds out what the first message says about the repository, while other things are waited for. */

import { orientation } from '../domain/conversation/orientation.ts';
import type { Sandbox } from '../ports.ts';
import type { Session } from './session.ts';

/** Programs that are worth naming when commands find them. */
const PROGRAMS =
  'git node npm pnpm yarn bun deno python3 pip uv go cargo java mvn gradle ruby bundle php composer dotnet make cmake gcc';

/** Milliseconds for all of it; what is not known by then is left out. */
const LOOK_MS = 2_000;

/** Absolute path of the working directory, and of the work tree that it is part of. */
export interface LookedAt {
  readonly root: string;
  readonly folder: string;
}

/**
 * Begins to look at the repository. The function that comes back looks at the sandbox too, and ends with the text of
 * `orientation`: empty where nothing is known. Nothing of the repository is executed.
 */
export function beginOrientation(
  session: Session,
  { root, folder }: LookedAt,
): (sandbox: Sandbox, hosts: readonly string[]) => Promise<string> {
  const looking = lookAt(folder);
  looking.catch(() => undefined);
  return async (sandbox, hosts) => {
    const { survey, files } = await looking;
    const programs = await programsIn(sandbox, {
      root,
      versionCommand: survey.versionCommand,
      signal: session.interrupt,
    });
    return orientation({
      files,
      project: survey.project && {
        ecosystem: survey.project.ecosystem,
        manager: survey.project.manager.text,
        test: foundCommand(survey.project.test),
        lint: foundCommand(survey.project.lint),
        build: foundCommand(survey.project.build),
      },
      programs,
      hosts: sandbox.level === 'none' ? null : hosts,
    });
  };
}

/** Loaded while the sandbox is being opened. */
async function lookAt(folder: string) {
  const { surveyRepository, trackedFiles } = await import('../adapters/survey/survey.ts');
  const tracked = trackedFiles(folder);
  const [survey, files] = await Promise.all([surveyRepository(folder, () => tracked), tracked]);
  return { survey, files };
}

/** A guess would send the model the wrong way. */
function foundCommand(said: { readonly text: string; readonly basis: object } | null): string | null {
  return said !== null && 'found' in said.basis ? said.text : null;
}

interface Asked {
  readonly root: string;
  readonly versionCommand: string | null;
  readonly signal: AbortSignal;
}

/** Only what is outside the work tree is executed, and not in it: its own programs run when the model asks for them. */
async function programsIn(sandbox: Pick<Sandbox, 'run'>, { root, versionCommand, signal }: Asked) {
  const { output } = await sandbox.run({
    script: [
      'cd /',
      `for name in ${PROGRAMS}; do command -v "$name" >/dev/null 2>&1 && echo "has $name"; done`,
      ...(versionCommand === null ? [] : [versionScript(versionCommand, root)]),
    ].join('\n'),
    timeoutMs: LOOK_MS,
    signal,
  });
  const lines = `${output.head}${output.tail}`.split('\n');
  const version = /^version (.*)$/m.exec(lines.join('\n'))?.[1];
  const [versioned] = versionCommand?.split(' ') ?? [];
  return lines.flatMap((line) => {
    const name = /^has (.*)$/.exec(line)?.[1];
    if (name === undefined) return [];
    return [{ name, version: (name === versioned && /\d+(?:\.\d+){1,3}/.exec(version ?? '')?.[0]) || null }];
  });
}

function versionScript(command: string, root: string): string {
  const [name] = command.split(' ');
  const quotedRoot = `'${root.replaceAll("'", "'\\''")}'`;
  return `case $(command -v ${name}) in ''|${quotedRoot}/*) ;; *) echo "version $(${command} 2>/dev/null | head -n 1)" ;; esac`;
}
