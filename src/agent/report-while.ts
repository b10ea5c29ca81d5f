/** Turns work that reports its progress into a generator of these reports. */

/** Yields reports of the work in order and as they come, then returns its result. Rejects if the work does. */
export async function* reportWhile<Report, Result>(
  work: (report: (happening: Report) => void) => Promise<Result>,
): AsyncGenerator<Report, Result> {
  const reported: Report[] = [];
  let hasEnded = false;
  let wake = (): void => undefined;
  const working = work((happening) => {
    reported.push(happening);
    wake();
  });
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  working.then(end, end);
  for (;;) {
    for (let next = reported.shift(); next !== undefined; next = reported.shift()) yield next;
    if (hasEnded) return await working;
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
}
