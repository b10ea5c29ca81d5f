import { readIfThere } from './processes.ts';

/** Follows the peak of a process's resident memory, in bytes, until it is gone. */
export async function watchMemory(pid: number, memory: { peakBytes: number }): Promise<void> {
  for (;;) {
    const peak = /^VmHWM:\s+(\d+) kB/m.exec(readIfThere(`/proc/${pid}/status`))?.[1];
    if (peak === undefined) return;
    memory.peakBytes = Math.max(memory.peakBytes, Number(peak) * 1024);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
