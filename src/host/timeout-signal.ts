/** A deadline that cannot be lost. */

/**
 * Aborts after `delayMs`, with a `TimeoutError`; does not keep the process alive. In place of `AbortSignal.timeout`: Node.js 20 holds
 * that one weakly, and what `AbortSignal.any` makes of it does not hold it either, so a collection of garbage could take it away
 * before its time (https://github.com/nodejs/node/issues/57736).
 */
export function timeoutSignal(delayMs: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'));
  setTimeout(abort, delayMs).unref();
  return controller.signal;
}
