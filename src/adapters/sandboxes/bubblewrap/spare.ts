/**
 * A sandbox for the next command, set up while the model thinks: mounts and namespaces take most of a short command's time. It
 * holds what any command would see, and nothing runs in it before the command is known.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { ForeignDescriptors } from '../command/descriptors.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { lateLine } from '../command/shell.ts';
import type { ContainedProcess } from '../command/supervise-command.ts';
import { statOfTarget } from '../host-files.ts';
import { type BubblewrapSetup, setUp, type Waiting } from './start.ts';

/** From the end of a command on: by then its successor would have come, or the model has been asked. */
const PAUSE_MS = 25;

interface Held {
  readonly waiting: Waiting;
  /** What was mounted. */
  readonly shown: string;
  onBytes: (bytes: Uint8Array) => void;
}

/** What it gets from the sandbox that it belongs to. */
export interface SpareResources {
  readonly pipes: PipeSource;
  readonly foreign: ForeignDescriptors;
}

/** At most one sandbox that waits for its command. */
export class Spare {
  readonly #setup: BubblewrapSetup;
  /** Holds the command line once that is known. */
  readonly #file: string;
  readonly #dropped = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | null = null;
  #held: Promise<Held | null> | null = null;
  #isClosed = false;

  constructor(setup: BubblewrapSetup) {
    this.#setup = setup;
    this.#file = join(setup.files, 'next-command');
  }

  /** Sets one up if no command has come after a moment. */
  makeSoon(own: SpareResources): void {
    if (this.#isClosed || this.#timer !== null || this.#held !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      // Where that fails, so will the next command, and say why.
      this.#held = this.#make(own).catch(() => null);
    }, PAUSE_MS).unref();
  }

  /** Begins `line` in the one that waits; null if there is none, or the machine has changed under it. */
  async take(
    line: readonly string[],
    onBytes: (bytes: Uint8Array) => void,
  ): Promise<ContainedProcess | null> {
    const held = await this.#release();
    if (held === null) return null;
    held.waiting.hold(true);
    if (!(await held.waiting.isReady()) || held.shown !== shownBy(this.#setup)) {
      this.#drop(held);
      return null;
    }
    held.onBytes = onBytes;
    writeFileSync(this.#file, lateLine(line));
    held.waiting.begin();
    return held.waiting.contained;
  }

  /** Nothing of it is left then. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const held = await this.#release();
    if (held !== null) this.#drop(held);
    await Promise.allSettled(this.#dropped);
  }

  #release(): Promise<Held | null> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const held = this.#held ?? Promise.resolve(null);
    this.#held = null;
    return held;
  }

  #drop({ waiting: { contained } }: Held): void {
    const ended = contained.killAll().catch(() => undefined);
    const gone = ended.then(() => {
      contained.output.destroy();
      this.#dropped.delete(gone);
    });
    this.#dropped.add(gone);
  }

  async #make(own: SpareResources): Promise<Held | null> {
    const shown = shownBy(this.#setup);
    if (shown === null) return null;
    // A new file: the one before may not have been read yet.
    rmSync(this.#file, { force: true });
    writeFileSync(this.#file, '', { mode: 0o644 });
    const waiting = await setUp(this.#setup, {
      ...own,
      command: {},
      script: { by: 'later', path: this.#file },
      onBytes: (bytes) => held.onBytes(bytes),
    });
    const held: Held = { waiting, shown, onBytes: () => {} };
    waiting.hold(false);
    // It is looked at when it is needed.
    waiting.contained.exited.catch(() => undefined);
    return held;
  }
}

/**
 * What commands would see, with what tells a place from another one that has taken its name. Null where there are covers: whoever
 * removes what one lies on removes the cover with it.
 */
function shownBy({ mounts, covers, directory }: BubblewrapSetup): string | null {
  if (covers({}).length > 0) return null;
  const root = mounts.find((mount) => mount.kind === 'read-write' && mount.at === directory);
  const places = mounts.flatMap((mount) => {
    if (mount.kind !== 'read-only' && mount.kind !== 'read-write') return [];
    const isInTree = root?.kind === 'read-write' && isWithin(mount.at, directory);
    return isInTree ? [mount.source, join(root.source, relative(directory, mount.at))] : [mount.source];
  });
  return places.map((place) => `${place} ${identityOf(place)}`).join('\n');
}

function identityOf(path: string): string {
  const stats = statOfTarget(path);
  return stats === null ? 'gone' : `${stats.dev} ${stats.ino} ${stats.birthtimeMs}`;
}
