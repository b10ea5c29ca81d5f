import { test } from 'vitest';
import { IS_FULL } from './sample.ts';

/** A test that only `npm run test:full` has time for; docs/testing.md says which they are. */
export const testAtNight = test.runIf(IS_FULL);
