/** A timeout that garbage collection cannot remove. */

/**
 * Aborts after `delayMs` with a `TimeoutError`; does not keep the process alive. Replaces `AbortSignal.timeout`: Node.js 20
 * holds that one weakly, and so does a signal that `AbortSignal.any` derives from it, so garbage collection could remove it
 * early (https://github.com/nodejs/node/issues/57736).
 */
export function timeoutSignal(delayMs: number): AbortSignal {
  const controller = new AbortController();
  const abort = () => controller.abort(new DOMException('The operation timed out.', 'TimeoutError'));
  setTimeout(abort, delayMs).unref();
  return controller.signal;
}
