/**
 * How long anything may take that has to happen, in milliseconds. It is reached by what hangs alone: a machine that does ten
 * things at a time makes everything slow and nothing wrong.
 */
export const PATIENCE_MS = 240_000;
