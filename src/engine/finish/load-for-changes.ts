/** The modules that only a run with changes needs at its end. */

/** Loads them while there is time: at the end each would be waited for. Whoever needs one imports it and hears of failures. */
export function loadForChanges(): void {
  const modules = [
    import('./review.ts'),
    import('./attribution.ts'),
    import('../../domain/github/publishing/policy.ts'),
    import('../../adapters/workspace/kept/essentials.ts'),
  ];
  for (const module of modules) module.catch(() => undefined);
}
