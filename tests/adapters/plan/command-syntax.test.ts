import { describe, expect, test } from 'vitest';
import { whyOverlooked } from '../../../src/adapters/plan/command-syntax.ts';

const AMPERSAND = 'cannot fail: it ends with &, so nothing waits for its exit code';
const WAIT = 'overlooks failures: wait without a process id always succeeds; use wait "$!"';
const LAST = 'overlooks failures: wait has only the exit code of the last process; use one wait for each';

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
    ['npm test & wait && echo ok', `${WAIT} (line 1, column 12).`],
    ['npm test & wait; echo ok', `${WAIT} (line 1, column 12).`],
    ['if true; then npm test & wait\nfi; echo ok', `${WAIT} (line 1, column 26).`],
    ['a & p=$!; b & q=$!; wait $p $q; echo ok', `${LAST} (line 1, column 21).`],
    ['f() { a & b & wait %1 %2; }; f', `${LAST} (line 1, column 15).`],
  ])('%s: %s', (text, why) => {
    expect(whyOverlooked(text)).toBe(why);
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
    expect(whyOverlooked(text)).toBe(null);
  });
});
