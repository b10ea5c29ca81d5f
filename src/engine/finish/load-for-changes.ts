/** The modules that only a run with changes needs at its end. */

/** Loads them early, so that the end of a run does not wait. A failure is reported where the module is imported again. */
export function loadForChanges(): void {
  const modules = [
    import('./review.ts'),
    import('./attribution.ts'),
    import('../../domain/github/publishing/policy.ts'),
    import('../../adapters/workspace/kept/essentials.ts'),
  ];
  for (const module of modules) module.catch(() => undefined);
}
