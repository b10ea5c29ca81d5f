/** Keeps inherited descriptors from commands. */

import type { IOType } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { readText } from '../host-files.ts';

type Descriptor = IOType | 'ipc' | number;

/**
 * Whoever started us may have left descriptors open that every child inherits: a log, a socket of a CI agent. Node closes
 * its own in children, and low numbers; for the rest, each child gets the null device instead.
 */
export class ForeignDescriptors {
  readonly #numbers: readonly number[];
  #nothing: number | null;

  constructor() {
    const limit = Math.min(HIGHEST, openFilesLimit());
    const numbers = inherited();
    this.#numbers = numbers.filter((number) => number < limit);
    // If no other can take its place, in a child either, we have to close it.
    for (const number of numbers) if (number >= limit) closeSync(number);
    this.#nothing = openSync('/dev/null', 'r');
  }

  /** `stdio` for a child that gets these descriptors, numbered from 0, and no others. */
  withNothingElse(own: readonly Descriptor[]): Descriptor[] {
    const all = [...own];
    for (const number of this.#numbers) {
      if (number < own.length) continue;
      while (all.length < number) all.push('ignore');
      all[number] = this.#nothing ?? 'ignore';
    }
    return all;
  }

  close(): void {
    if (this.#nothing !== null) closeSync(this.#nothing);
    this.#nothing = null;
  }
}

/** The list passed to a child extends to the highest number. */
const HIGHEST = 4096;

/** O_CLOEXEC, as shown by /proc. */
const CLOSED_IN_CHILDREN = 0o2000000;

/** Ascending numbers starting at 3. */
function inherited(): number[] {
  const numbers = readdirSync('/proc/self/fdinfo')
    .map(Number)
    .filter((number) => number > 2);
  return numbers.filter(isInherited).sort((a, b) => a - b);
}

/** The current limit on a process's descriptors: ones with higher numbers were opened before it was lowered. */
function openFilesLimit(): number {
  return Number(/^Max open files\s+(\d+)/m.exec(readText('/proc/self/limits') ?? '')?.[1] ?? HIGHEST);
}

function isInherited(number: number): boolean {
  const flags = /^flags:\s+([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${number}`) ?? '')?.[1];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_IN_CHILDREN) === 0;
}
