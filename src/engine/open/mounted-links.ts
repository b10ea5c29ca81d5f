/**
 * Hard links in what `--mount PATH:rw` shows. Those of the work tree are replaced by copies, but a folder that the operator wants
 * written to stays as it is: the run says beforehand that commands can change what is outside of it, and reports if they did.
 */

import { lstatSync } from 'node:fs';
import { linkedOutOf } from '../../adapters/workspace/unwalked/hard-links.ts';
import { quotedName } from '../../domain/changes/path.ts';
import { LinkedOutside } from '../../domain/errors/thrown.ts';
import { type Denial, deniedLinks } from '../../domain/review/denied.ts';
import { pluralize } from '../../domain/text/words.ts';
import { orNone } from '../../files/failures.ts';
import { encodeName } from '../../files/names.ts';
import type { Session } from '../session.ts';
import { sandboxSettings, writableFolders } from './sandbox-settings.ts';

/** When each was last changed, by its absolute path. Call before commands run: warns that they can change what is outside. */
export async function mountedLinks(session: Session): Promise<Session['mountedLinks']> {
  const all = new Map<string, bigint>();
  for (const { named, real } of writableFolders(sandboxSettings(session.input))) {
    const warn = (text: string) => session.warn('WARN_HARD_LINKS_MOUNTED', text);
    try {
      const found = await linkedOutOf(real);
      const [first] = found.keys();
      if (first !== undefined)
        warn(
          `${pluralize(found.size, 'file')} of --mount ${named}:rw, such as ${quotedName(first)}, are hard links to files outside of it: a command that changes one changes those.`,
        );
      for (const [path, changed] of found) all.set(path, changed);
    } catch (error) {
      if (!(error instanceof LinkedOutside)) throw error;
      warn(
        `--mount ${named}:rw cannot be searched for hard links to files outside of it, which commands could change.`,
      );
    }
  }
  return all;
}

/** Those that are not as they were: one that is gone may have been changed before. */
export function changedLinks({ mountedLinks }: Session): Denial[] {
  const stateOf = (path: string) => orNone(() => lstatSync(encodeName(path), { bigint: true }));
  const changed = [...mountedLinks].filter(([path, before]) => stateOf(path)?.ctimeNs !== before);
  return deniedLinks(changed.map(([path]) => path));
}
