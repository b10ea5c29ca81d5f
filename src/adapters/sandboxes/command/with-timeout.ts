/** Waiting with a timeout. */

/** The promise's value, or null after `limitMs`. No timer is left behind. */
export async function withTimeout<T>(limitMs: number, promise: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, limitMs, null);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
