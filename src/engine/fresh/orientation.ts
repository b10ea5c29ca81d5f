/** Finds out what the first message says about the repository, while other things are waited for. */

import { orientation } from '../../domain/conversation/orientation.ts';
import type { Sandbox } from '../../ports.ts';
import type { Session } from '../session.ts';

/** Programs that are worth naming when commands find them. */
const PROGRAMS =
  'git node npm pnpm yarn bun deno python3 pip uv go cargo java mvn gradle ruby bundle php composer dotnet make cmake gcc';

/** Milliseconds for what is executed; what is not known by then is left out. */
const LOOK_MS = 2_000;

/** Absolute path of the working directory, and of the work tree that it is part of. */
export interface LookedAt {
  readonly root: string;
  readonly folder: string;
}

/** A look at the repository that has begun. */
export interface BegunOrientation {
  /** What to ask the shell of the sandbox, once the repository is known. */
  lookup(): Promise<string | null>;
  /** The text of `orientation`: empty where nothing is known. What was not asked with `lookup` is asked now. */
  end(found: Found): Promise<string>;
}

interface Found {
  readonly sandbox: Sandbox;
  /** What the shell answered; null when it was not asked. */
  readonly lookedUp: string | null;
  readonly hosts: readonly string[];
}

/** Begins to look at the repository. Nothing of it is executed. */
export function beginOrientation(session: Session, { root, folder }: LookedAt): BegunOrientation {
  const looking = lookAt(folder);
  const asking = looking.then(({ survey }) => lookupScript(root, survey.versionCommand));
  asking.catch(() => undefined);
  return {
    // Whatever went wrong is told at the end.
    lookup: () => asking.catch(() => null),
    async end({ sandbox, lookedUp, hosts }) {
      const { survey, files } = await looking;
      const said = lookedUp ?? (await ask(sandbox, await asking, session.interrupt));
      return orientation({
        files,
        project: survey.project && {
          ecosystem: survey.project.ecosystem,
          manager: survey.project.manager.text,
          test: foundCommand(survey.project.test),
          lint: foundCommand(survey.project.lint),
          build: foundCommand(survey.project.build),
        },
        programs: programsIn(said, survey.versionCommand),
        hosts: sandbox.level === 'none' ? null : hosts,
      });
    },
  };
}

/** Loaded while the sandbox is being opened. */
async function lookAt(folder: string) {
  const { surveyRepository, trackedFiles } = await import('../../adapters/survey/survey.ts');
  const tracked = trackedFiles(folder);
  const [survey, files] = await Promise.all([surveyRepository(folder, () => tracked), tracked]);
  return { survey, files };
}

/** A guess would send the model the wrong way. */
function foundCommand(said: { readonly text: string; readonly basis: object } | null): string | null {
  return said !== null && 'found' in said.basis ? said.text : null;
}

async function ask(sandbox: Pick<Sandbox, 'run'>, script: string, signal: AbortSignal): Promise<string> {
  const { output } = await sandbox.run({ script, timeoutMs: LOOK_MS, signal });
  return `${output.head}${output.tail}`;
}

/** Only what is outside the work tree is executed, and not in it: its own programs run when the model asks for them. */
function lookupScript(root: string, versionCommand: string | null): string {
  return [
    'cd /',
    `for name in ${PROGRAMS}; do command -v "$name" >/dev/null 2>&1 && echo "has $name"; done`,
    ...(versionCommand === null ? [] : [versionScript(versionCommand, root)]),
  ].join('\n');
}

function programsIn(said: string, versionCommand: string | null) {
  const version = /^version (.*)$/m.exec(said)?.[1];
  const [versioned] = versionCommand?.split(' ') ?? [];
  return said.split('\n').flatMap((line) => {
    const name = /^has (.*)$/.exec(line)?.[1];
    if (name === undefined) return [];
    return [{ name, version: (name === versioned && /\d+(?:\.\d+){1,3}/.exec(version ?? '')?.[0]) || null }];
  });
}

/** A program that does not answer in time is left behind, and ends with the sandbox. Only bash can wait for a while. */
function versionScript(command: string, root: string): string {
  const [name] = command.split(' ');
  const quotedRoot = `'${root.replaceAll("'", "'\\''")}'`;
  const read = `IFS= read -r -t ${LOOK_MS / 1_000} said < <(${command} 2> /dev/null < /dev/null); echo "version $said"`;
  return `case \${BASH_VERSION:+$(command -v ${name})} in ''|${quotedRoot}/*) ;; *) eval '${read}' ;; esac`;
}
