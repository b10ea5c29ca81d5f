/**
 * Sandboxes for the next commands, set up while the model thinks or a command runs: mounts and namespaces take most of a short
 * command's time. Each shows what any command would see, and nothing runs in it before the command is known.
 */

import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { isWithin } from '../../../domain/changes/path.ts';
import type { ForeignDescriptors } from '../command/descriptors.ts';
import type { PipeSource } from '../command/output-pipe.ts';
import { lateLine } from '../command/shell.ts';
import type { ContainedProcess } from '../command/supervise-command.ts';
import { statOfTarget } from '../host-files.ts';
import type { BubblewrapSetup } from './setup.ts';
import { setUp, type Waiting } from './start.ts';

/** After a command has begun or ended: by then those beside it have begun too, or the model has been asked. */
const PAUSE_MS = 10;

/** Each takes 13 ms to set up, two processes and descriptors; more commands at a time are rare. */
const MOST = 8;

interface Held {
  readonly waiting: Waiting;
  /** What was mounted. */
  readonly shown: string;
  /** Holds the command line once that is known. */
  readonly file: string;
  onBytes: (bytes: Uint8Array) => void;
}

/** What they get from the run's sandbox. */
export interface SpareResources {
  readonly pipes: PipeSource;
  readonly foreign: ForeignDescriptors;
}

/** The sandboxes that wait for their commands: as many as lately began beside or right behind each other, one at first. */
export class Spares {
  readonly #setup: BubblewrapSetup;
  /** Ready or being set up, in the order in which they were begun. */
  readonly #held: Promise<Held | null>[] = [];
  readonly #dropped = new Set<Promise<void>>();
  #wanted = 1;
  /** Commands that run, and those that have begun since none has run for a moment. */
  #running = 0;
  #begun = 0;
  /** A command has begun a moment ago, and another may. */
  #isBusy = false;
  #made = 0;
  #timer: NodeJS.Timeout | null = null;
  #making: Promise<void> | null = null;
  #isClosed = false;

  constructor(setup: BubblewrapSetup) {
    this.#setup = setup;
  }

  /** Call when a command that one could wait for is about to begin, and when it has ended. */
  commandBegins(): void {
    this.#running += 1;
    this.#begun += 1;
    this.#isBusy = true;
    this.#stopTimer();
  }

  commandEnded(): void {
    this.#running -= 1;
  }

  /** Sets up missing ones if no command comes for a moment. */
  makeSoon(own: SpareResources): void {
    if (this.#isClosed || this.#timer !== null) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#isBusy = false;
      const least = this.#running > 0 || this.#begun === 0 ? this.#wanted : 1;
      this.#wanted = Math.min(Math.max(this.#begun, least), MOST);
      if (this.#running === 0) this.#begun = 0;
      this.#making ??= this.#makeAll(own).finally(() => {
        this.#making = null;
      });
    }, PAUSE_MS).unref();
  }

  /** Starts `line` in a waiting sandbox; null if there is none, or if a mounted path has changed since. */
  async take(
    line: readonly string[],
    onBytes: (bytes: Uint8Array) => void,
  ): Promise<ContainedProcess | null> {
    for (let next = this.#held.shift(); next !== undefined; next = this.#held.shift()) {
      const held = await next;
      if (held === null) continue;
      held.waiting.hold(true);
      if (!(await held.waiting.isReady()) || held.shown !== shownBy(this.#setup)) {
        this.#drop(held);
        continue;
      }
      held.onBytes = onBytes;
      writeFileSync(held.file, lateLine(line));
      held.waiting.begin();
      return held.waiting.contained;
    }
    return null;
  }

  /** Nothing of them is left then. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    await this.#making;
    for (const held of await Promise.all(this.#held.splice(0))) if (held !== null) this.#drop(held);
    await Promise.allSettled(this.#dropped);
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** One after the other: beside a command that runs, or the work that follows it. */
  async #makeAll(own: SpareResources): Promise<void> {
    while (!this.#isClosed && !this.#isBusy && this.#held.length < this.#wanted) {
      // Where that fails, so will the next command, and say why.
      const making = this.#make(own).catch(() => null);
      this.#held.push(making);
      const held = await making;
      if (held === null || !(await held.waiting.isReady())) return;
    }
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
    const file = join(this.#setup.files, `next-command-${this.#made++}`);
    writeFileSync(file, '', { mode: 0o644 });
    const waiting = await setUp(this.#setup, {
      ...own,
      command: {},
      script: { by: 'later', path: file },
      onBytes: (bytes) => held.onBytes(bytes),
    });
    const held: Held = { waiting, shown, file, onBytes: () => {} };
    waiting.hold(false);
    const remove = () => rmSync(file, { force: true });
    // It is checked when it is needed.
    waiting.contained.exited.then(remove, remove);
    return held;
  }
}

/**
 * The paths that commands would see, each with the facts that distinguish it from a replacement of the same name. Null if there
 * are covers, since removing a covered file also removes the cover.
 */
function shownBy({ pins: { mounts }, covers, directory }: BubblewrapSetup): string | null {
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
