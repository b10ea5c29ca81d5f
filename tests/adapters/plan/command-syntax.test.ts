import { describe, expect, test } from 'vitest';
import { unwaitedEnd } from '../../../src/adapters/plan/command-syntax.ts';

const AMPERSAND = 'it ends with &, so nothing waits for its exit code';
const WAIT = 'wait without a process id always succeeds; use wait "$!"';

describe('the end of a command', () => {
  test.each([
    ['npm test &', `${AMPERSAND} (line 1, column 10).`],
    ['npm test & # later', `${AMPERSAND} (line 1, column 10).`],
    ['cd a\nnpm test &\n', `${AMPERSAND} (line 2, column 10).`],
    ['(npm start; npm test &)', `${AMPERSAND} (line 1, column 22).`],
    ['true && { npm test & } > log', `${AMPERSAND} (line 1, column 20).`],
    ['if true; then npm test & else npm run e2e; fi', `${AMPERSAND} (line 1, column 24).`],
    ['for f in a b; do check "$f" & done', `${AMPERSAND} (line 1, column 29).`],
    ['case x in x) npm test & ;; esac', `${AMPERSAND} (line 1, column 23).`],
    ['npm test & wait', `${WAIT} (line 1, column 12).`],
    ['npm test &\nwait', `${WAIT} (line 2, column 1).`],
  ])('%s: %s', (text, why) => {
    expect(unwaitedEnd(text)).toBe(why);
  });

  test.each([
    'npm test',
    'npm start & npm test',
    'npm start & npm test; kill $!; wait',
    'npm test & wait "$!"',
    'npm test & wait -n',
    'npm test 2>&1',
    'npm test &> log',
    'echo "a &"',
    'grep -c "&" file # &',
    'cat <<E\na &\nE',
    'a && b',
    '',
  ])('is waited for in %j', (text) => {
    expect(unwaitedEnd(text)).toBe(null);
  });
});
