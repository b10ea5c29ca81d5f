/** Lets the consumer of a generator act while the generator is working. */

/**
 * Yields what `steps` yields, and null whenever it is woken in between. `onceAwake` gets what wakes it, anew each time it waits.
 * A consumer that leaves while `steps` works does not wait for that.
 */
export async function* wokenBetween<Step>(
  steps: AsyncGenerator<Step>,
  onceAwake: (wake: () => void) => void,
): AsyncGenerator<Step | null> {
  let isWorking = false;
  try {
    for (;;) {
      isWorking = true;
      const next = steps.next();
      const awake = () =>
        new Promise<IteratorResult<Step> | null>((resolve, reject) => {
          next.then(resolve, reject);
          onceAwake(() => resolve(null));
        });
      let step = await awake();
      for (; step === null; step = await awake()) yield null;
      isWorking = false;
      if (step.done) return;
      yield step.value;
    }
  } finally {
    const left = steps.return(undefined);
    if (isWorking) left.catch(() => undefined);
    else await left;
  }
}
