/** Checks running commands a few times a second and reports those that exceed a limit. */

import { statfsSync, statSync } from 'node:fs';
import type { ExceededLimit } from '../../../domain/conversation/tool.ts';
import type { EnforcedLimits } from '../../../domain/run/limits.ts';
import { readText } from '../host-files.ts';
import type { ResourceUsage } from './usage.ts';

interface Watched {
  /** Null while nothing is known. */
  readonly look: (enough: number) => ResourceUsage | null;
  readonly freeAtStart: readonly number[];
  readonly tasksAtStart: number;
  readonly giveUp: (limit: ExceededLimit) => void;
}

const PERIOD_MS = 250;
/** A fork bomb soon starves the runner of processor time, so one cheap check runs more often. */
const BOMB_PERIOD_MS = 50;

/** A command that has written less than this since its start is not the one filling a disk. */
const NEGLIGIBLE_BYTES = 16 * 1024 * 1024;

/**
 * For all commands of one sandbox. A command that ends before the first check costs one check of the disks. Files in memory
 * (tmpfs, memfd) belong to no process: their growth on the machine since before the first command counts for all commands
 * together. What others free meanwhile still shows in the memory that the machine has left.
 */
export class ResourceWatchdog {
  readonly #limits: EnforcedLimits;
  readonly #disks: readonly Disk[];
  readonly #leastMemory: number;
  readonly #watched = new Set<Watched>();
  #timers: NodeJS.Timeout[] = [];
  /** Bytes of files in memory before the watched commands started. */
  #filesInMemoryBefore = 0;

  /** `places` are paths on the disks that commands can write to. */
  constructor(limits: EnforcedLimits, places: readonly string[]) {
    this.#limits = limits;
    this.#disks = disksOf(places, limits.diskBytes.limit);
    const { available, total } = memory();
    this.#leastMemory = floorOf(total, available);
  }

  /** `exceeded` resolves when the command has to be killed, with the limit it exceeds. */
  watch(look: Watched['look']): { exceeded: Promise<ExceededLimit>; stop: () => void } {
    let giveUp: Watched['giveUp'] = () => {};
    const exceeded = new Promise<ExceededLimit>((resolve) => {
      giveUp = resolve;
    });
    const freeAtStart = this.#disks.map(({ place }) => freeBytes(place));
    const watched = { look, freeAtStart, tasksAtStart: tasksOfMachine(), giveUp };
    if (this.#watched.size === 0) this.#filesInMemoryBefore = memory().files;
    this.#watched.add(watched);
    if (this.#timers.length === 0) {
      this.#timers.push(setInterval(() => this.#lookForBombs(), BOMB_PERIOD_MS));
      this.#timers.push(setInterval(() => this.#lookAtAll(), PERIOD_MS));
    }
    const stop = () => {
      this.#watched.delete(watched);
      if (this.#watched.size === 0) for (const timer of this.#timers.splice(0)) clearInterval(timer);
    };
    return { exceeded, stop };
  }

  #lookForBombs(): void {
    const { limit } = this.#limits.processes;
    const now = tasksOfMachine();
    for (const { tasksAtStart, look, giveUp } of this.#watched) {
      if (now - tasksAtStart > limit && (look(limit)?.tasks ?? 0) > limit) giveUp('processes');
    }
  }

  #lookAtAll(): void {
    const { processes, memoryBytes } = this.#limits;
    const { available, files } = memory();
    let all = Math.max(0, files - this.#filesInMemoryBefore);
    let largest: { watched: Watched; bytes: number } | null = null;
    for (const watched of this.#watched) {
      const usage = watched.look(processes.limit);
      if (usage === null) continue;
      if (usage.tasks > processes.limit) watched.giveUp('processes');
      all += usage.ownBytes;
      if (usage.ownBytes >= (largest?.bytes ?? 0)) largest = { watched, bytes: usage.ownBytes };
    }
    if (all > memoryBytes.limit || available < this.#leastMemory) largest?.watched.giveUp('memory');
    for (const [index, { place, least }] of this.#disks.entries()) {
      const free = freeBytes(place);
      if (free >= least) continue;
      for (const { freeAtStart, giveUp } of this.#watched) {
        if (free < (freeAtStart[index] ?? 0) - NEGLIGIBLE_BYTES) giveUp('disk');
      }
    }
  }
}

/** Processes and threads, from the fourth field of /proc/loadavg (`running/all`). */
function tasksOfMachine(): number {
  return Number(/\/(\d+)/.exec(readText('/proc/loadavg') ?? '')?.[1] ?? 0);
}

interface Disk {
  readonly place: string;
  /** Bytes that have to remain free. */
  readonly least: number;
}

/** One per file system. */
function disksOf(places: readonly string[], maxBytes: number): Disk[] {
  const byDevice = new Map(places.map((place) => [statSync(place).dev, place]));
  return [...byDevice.values()].map((place) => {
    const { bsize, blocks } = statfsSync(place);
    const free = freeBytes(place);
    return { place, least: Math.max(floorOf(bsize * blocks, free), free - maxBytes) };
  });
}

function freeBytes(place: string): number {
  const { bavail, bsize } = statfsSync(place);
  return bavail * bsize;
}

/**
 * Memory reserved for the rest of the machine: 256 MiB, a twentieth of a small machine's memory, and never more than half of the
 * total.
 */
function floorOf(total: number, available: number): number {
  return Math.min(256 * 1024 * 1024, total / 20, available / 2);
}

/** In bytes; `files` are those in memory, whether mapped or not. */
function memory(): { available: number; total: number; files: number } {
  const text = readText('/proc/meminfo') ?? '';
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1]) * 1024;
  return { available: bytes('MemAvailable'), total: bytes('MemTotal'), files: bytes('Shmem') };
}
