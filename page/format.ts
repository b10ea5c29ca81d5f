/** Numbers and times for people. */

import { formatNumber, formatSize } from '../src/domain/text/words.ts';

/** `0.3 s`, `12 s`, `3 min 20 s`, `1 h 5 min`; milliseconds below a tenth of a second. */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.round(ms)} ms`;
  if (ms < 9_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 === 0 ? `${minutes} min` : `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `$0.0123` below a dollar, `$12.35` above; `unknown` without a price. */
export function money(usd: number | 'unknown' | null): string {
  if (usd === null || usd === 'unknown') return 'unknown';
  return usd === 0 ? '$0' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

/** `950`, `12.3k`, `1.2M`: for axes and narrow columns. */
export function short(n: number): string {
  if (n < 1_000) return formatNumber(n);
  if (n < 999_500) return `${(n / 1_000).toFixed(n < 99_950 ? 1 : 0).replace(/\.0$/, '')}k`;
  return `${(n / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`;
}

/** `2026-11-21 10:15:00 UTC`. */
export function moment(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime())
    ? 'an unknown time'
    : `${date.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** `82%`. */
export function percent(part: number, of: number): string {
  return of === 0 ? '–' : `${Math.round((part / of) * 100)}%`;
}

/** `950 bytes`, `1.2 kB`. */
export function sizeText(bytes: number): string {
  return bytes < 1024 ? `${bytes} bytes` : formatSize(bytes);
}
