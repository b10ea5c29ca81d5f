/** Programs that the operator wants outside of the sandbox. They are limited and ended like commands, and see the machine. */

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from '../../domain/changes/path.ts';
import type { Sandbox } from '../../ports.ts';
import { enforcedLimits } from './command/limits.ts';
import { OutputPipes } from './command/output-pipe.ts';
import { findShell } from './command/shell.ts';
import { realPathOf } from './host-files.ts';
import { uncontained } from './none.ts';
import { ownFolder, type SandboxOptions } from './options.ts';

/** The variables that such a program has besides its own: nothing that may be secret. */
const FROM_HOST = ['HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR'];

/**
 * They start in an empty folder, and find no programs in the work tree, so that none of them is run outside the sandbox by
 * accident.
 */
export async function openOutside(
  options: Pick<SandboxOptions, 'scratchDir' | 'hostEnv' | 'limits' | 'root'>,
): Promise<Sandbox> {
  const { hostEnv, limits, root } = options;
  const files = await ownFolder(options);
  const folder = join(files, 'folder');
  await mkdir(folder);
  const isOutside = (place: string) =>
    place.startsWith('/') && !isWithin(place, root) && !isWithin(realPathOf(place) ?? place, root);
  const path = (hostEnv.PATH ?? '').split(':').filter(isOutside).join(':');
  const given = FROM_HOST.flatMap((name) => {
    const value = hostEnv[name];
    return value === undefined ? [] : [[name, value]];
  });
  return uncontained({
    shell: findShell(),
    root: folder,
    folder: '',
    env: { ...Object.fromEntries(given), PATH: path },
    files,
    pipes: new OutputPipes(files),
    limits: enforcedLimits(limits, false),
    writable: [files],
  });
}
