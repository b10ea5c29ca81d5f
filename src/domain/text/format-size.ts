/** Sizes for people. */

/** In powers of 1024, with one decimal below ten: `3.1 GB`, `44 MB`, `12 KB`, `0 KB`. */
export function formatSize(bytes: number): string {
  for (const [unit, factor] of UNITS) {
    const value = bytes / factor;
    if (value >= 0.95 || unit === 'KB')
      return `${value < 9.95 && unit !== 'KB' ? value.toFixed(1) : Math.round(value)} ${unit}`;
  }
  return `${bytes}`;
}

const UNITS = [
  ['GB', 1024 ** 3],
  ['MB', 1024 ** 2],
  ['KB', 1024],
] as const;
