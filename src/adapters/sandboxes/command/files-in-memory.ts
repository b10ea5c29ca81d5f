/**
 * Measures files in memory that belong to processes: unnamed ones (memfd), and all files of in-memory file systems that only
 * these processes see.
 */

import { readdirSync, readlinkSync, statfsSync, statSync } from 'node:fs';
import { orMissing, readText } from '../host-files.ts';

/** Reading more descriptors would take longer than the interval between two measurements. */
const MOST_DESCRIPTORS = 20_000;

/** In bytes. `folder` is a /proc, `pids` are process ids in it. Files that cannot be examined do not count. */
export function filesInMemory(folder: string, pids: readonly number[]): number {
  const processes = pids.map((pid) => `${folder}/${pid}`);
  return inFilesWithoutName(processes) + inOwnFileSystems(processes);
}

function inFilesWithoutName(processes: readonly string[]): number {
  const bytes = new Map<string, number>();
  let seen = 0;
  for (const process of processes) {
    for (const descriptor of descriptorsOf(process)) {
      seen += 1;
      if (seen > MOST_DESCRIPTORS) return total(bytes);
      if (orMissing(() => readlinkSync(descriptor))?.startsWith('/memfd:') !== true) continue;
      // Other processes may have the same file.
      const stat = orMissing(() => statSync(descriptor, { throwIfNoEntry: false }));
      if (stat) bytes.set(`${stat.dev}:${stat.ino}`, stat.blocks * 512);
    }
  }
  return total(bytes);
}

/** A main thread that has ended shows no descriptors, while other threads may have some. */
function descriptorsOf(process: string): string[] {
  const own = pathsIn(`${process}/fd`);
  return own.length > 0 ? own : pathsIn(`${process}/task`).flatMap((thread) => pathsIn(`${thread}/fd`));
}

function pathsIn(folder: string): string[] {
  return (orMissing(() => readdirSync(folder)) ?? []).map((name) => `${folder}/${name}`);
}

/** All of them see the same file systems, but for some, such as process 1, a plain user cannot read them. */
function inOwnFileSystems(processes: readonly string[]): number {
  const ours = new Set(memoryMounts('/proc/self').map(({ device }) => device));
  const bytes = new Map<string, number>();
  for (const process of processes) {
    for (const { device, place } of memoryMounts(process)) {
      if (ours.has(device) || bytes.has(device)) continue;
      const used = usedAt(`${process}/root${place}`, device);
      if (used !== null) bytes.set(device, used);
    }
    if (bytes.size > 0) break;
  }
  return total(bytes);
}

interface MemoryMount {
  /** `major:minor`. */
  readonly device: string;
  readonly place: string;
}

function memoryMounts(process: string): MemoryMount[] {
  return (readText(`${process}/mountinfo`) ?? '').split('\n').flatMap((line) => {
    const [, , device, , place] = line.split(' ');
    if (device === undefined || place === undefined || !line.includes(' - tmpfs ')) return [];
    const plain = place.replace(/\\(\d{3})/g, (_, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    );
    return [{ device, place: plain }];
  });
}

/** Null where something else is mounted over it. */
function usedAt(path: string, device: string): number | null {
  const { dev } = orMissing(() => statSync(path, { throwIfNoEntry: false })) ?? {};
  if (dev === undefined || deviceName(dev) !== device) return null;
  const stat = orMissing(() => statfsSync(path));
  return stat && (stat.blocks - stat.bfree) * stat.bsize;
}

/** As the kernel prints a number that stat returned. */
function deviceName(dev: number): string {
  const number = BigInt(dev);
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & 0xfffff000n);
  const minor = (number & 0xffn) | ((number >> 12n) & 0xffffff00n);
  return `${major}:${minor}`;
}

const total = (bytes: ReadonlyMap<string, number>) => [...bytes.values()].reduce((sum, one) => sum + one, 0);
