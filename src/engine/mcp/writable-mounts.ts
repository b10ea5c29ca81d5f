/** The mounts in which the model's commands can write what others would read or run. */

import { realpathSync } from 'node:fs';
import type { Settings } from '../../config/schema.ts';
import { withoutTail } from '../../domain/text/shorten.ts';

/** A mount of `--mount PATH:rw`, as given. */
interface WritableMount {
  readonly asked: string;
  /** By its name, and without links. */
  readonly places: readonly string[];
}

/** The writable ones among the mounts of these settings. */
export function writableMounts({ mounts }: Pick<Settings, 'mounts'>): WritableMount[] {
  return mounts
    .filter((mount) => mount.endsWith(':rw'))
    .map((asked) => {
      const path = asked.slice(0, -':rw'.length);
      const named = path.slice(0, 1) + withoutTail(path.slice(1), '/');
      return { asked, places: [...new Set([named, realOrSame(named)])] };
    });
}

/** A path that cannot be followed is refused as a mount, later and with its reason. */
function realOrSame(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return path;
    throw error;
  }
}
