/** Makes the small repositories of the run by hand: no template, no hook, no setting but the ones written here. */

import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../../files/failures.ts';
import type { ObjectFormat } from './object-store.ts';

/** How to create one of our bare repositories. */
export interface RepositoryPlan {
  readonly gitDir: string;
  readonly objectFormat: ObjectFormat;
  /** Another object store to read from; null for none. */
  readonly alternate: string | null;
  /** Content of HEAD, without the newline. */
  readonly head: string;
  /** Lines of the `[core]` section. */
  readonly core: Readonly<Record<string, string | boolean>>;
  /** Further sections of the configuration, as text. */
  readonly config?: string;
}

/** Creates the folder and what git requires of a repository. */
export function makeRepository(plan: RepositoryPlan): void {
  for (const folder of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info']) {
    mkdirSync(join(plan.gitDir, folder), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(plan.gitDir, 'config'), configOf(plan));
  writeFileSync(join(plan.gitDir, 'HEAD'), `${plan.head}\n`);
  if (plan.alternate !== null)
    writeFileSync(join(plan.gitDir, 'objects/info/alternates'), `${quoted(plan.alternate)}\n`);
}

/** Content of `config`. */
function configOf(plan: RepositoryPlan): string {
  const core = { repositoryformatversion: plan.objectFormat === 'sha1' ? '0' : '1', ...plan.core };
  const lines = Object.entries(core).map(([name, value]) => `\t${name} = ${value}\n`);
  const format = plan.objectFormat === 'sha1' ? '' : `[extensions]\n\tobjectFormat = ${plan.objectFormat}\n`;
  return `[core]\n${lines.join('')}${format}${plan.config ?? ''}`;
}

/** A path as required by `objects/info/alternates`: C-quoted if a newline, a quote or a comment sign could be misread. */
function quoted(path: string): string {
  if (!/[\n"\\]|^#/.test(path)) return path;
  return `"${path.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}

/** Which objects of a run to make readable, and through which git dir. */
export interface KeptObjects {
  /** The shadow repository of the run; it has been validated and is only read. */
  readonly shadowDir: string;
  readonly objectFormat: ObjectFormat;
  /** The object store of a checkout named by the caller, if it has what the run did not store; null for none. */
  readonly objects: string | null;
  /** Made here. */
  readonly gitDir: string;
}

/** Creates the git dir and returns its path. It can be used to read objects. */
export function openKeptObjects({ shadowDir, objectFormat, objects, gitDir }: KeptObjects): string {
  makeRepository({
    gitDir,
    objectFormat,
    alternate: objects,
    head: 'ref: refs/heads/none',
    core: { bare: true, protectHFS: false, protectNTFS: false },
  });
  const kept = join(shadowDir, 'objects');
  for (const name of namesIn(kept)) {
    if (!/^[0-9a-f]{2}$/.test(name)) continue;
    if (lstatSync(join(kept, name)).isDirectory())
      symlinkSync(join(kept, name), join(gitDir, 'objects', name));
  }
  for (const name of namesIn(join(kept, 'pack')))
    if (/^pack-[0-9a-f]+\.(?:pack|idx)$/.test(name))
      symlinkSync(join(kept, 'pack', name), join(gitDir, 'objects/pack', name));
  return gitDir;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
