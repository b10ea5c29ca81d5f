import { setTimeout as wait } from 'node:timers/promises';
import { readIfThere } from './processes.ts';

const PERIOD_MS = 50;

/** Follows the peak of a process's resident memory, in bytes, until it is gone. */
export async function watchMemory(pid: number, memory: { peakBytes: number }): Promise<void> {
  for (;;) {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readIfThere(`/proc/${pid}/status`))?.[1];
    if (peak === undefined) return;
    memory.peakBytes = Math.max(memory.peakBytes, Number(peak) * 1024);
    await wait(PERIOD_MS);
  }
}

/** The process that a wrapper starts or becomes with this program, as soon as there is one; the wrapper's if it ends before. */
export async function processOf(program: string, wrapper: number): Promise<number> {
  for (;;) {
    for (let pid = wrapper; pid > 0; ) {
      if (readIfThere(`/proc/${pid}/cmdline`).startsWith(`${program}\0`)) return pid;
      pid = Number.parseInt(readIfThere(`/proc/${pid}/task/${pid}/children`), 10) || 0;
    }
    if (readIfThere(`/proc/${wrapper}/cmdline`) === '') return wrapper;
    await wait(PERIOD_MS);
  }
}
