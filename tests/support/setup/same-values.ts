/** Property tests of `npm test` try the same values each time, so that it fails for a change alone; those of the night try others. */

import fc from 'fast-check';
import { IS_FULL } from './sample.ts';

if (!IS_FULL) fc.configureGlobal({ seed: 11 });
