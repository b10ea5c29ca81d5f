import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { actionManifest, actionPage } from '../scripts/docs/action-docs.ts';
import {
  checkSchema,
  eventsSchema,
  outcomesSchema,
  planSchema,
  publicationSchema,
  resultSchema,
  settingsPage,
} from '../scripts/docs/derived-docs.ts';
import { projectFileSchema } from '../scripts/docs/project-file-schema.ts';
import { securityPage } from '../scripts/docs/security-page.ts';
import { findingsSchema } from '../src/domain/findings/reported.ts';
import { RunAction } from '../src/domain/run/events.ts';
import { JOURNAL_VERSION } from '../src/domain/run/limits.ts';
import { STAGES } from './attacks/stages.ts';

test('the published schema of result.json matches the code', () => {
  expect(readFileSync('docs/result.schema.json', 'utf8')).toBe(resultSchema());
});

test('the published schema of publish.json matches the code', () => {
  expect(readFileSync('docs/publication.schema.json', 'utf8')).toBe(publicationSchema());
});

test('the published schema of check matches the code', () => {
  expect(readFileSync('docs/check.schema.json', 'utf8')).toBe(checkSchema());
  expect(readFileSync('docs/outcomes.schema.json', 'utf8')).toBe(outcomesSchema());
  expect(JSON.parse(readFileSync('docs/findings.schema.json', 'utf8'))).toEqual(findingsSchema());
  expect(readFileSync('docs/plan.schema.json', 'utf8')).toBe(planSchema());
  expect(readFileSync('docs/patchsmith.schema.json', 'utf8')).toBe(projectFileSchema());
});

test('the published schema of events matches the code', () => {
  expect(readFileSync('docs/events.schema.json', 'utf8')).toBe(eventsSchema());
});

test('the page of events names each type once, and the version of the journal', () => {
  const page = readFileSync('docs/events.md', 'utf8');
  const rows = page.match(/^\| `[^|]*\|/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, type]) => type));
  const types = RunAction.options.map(({ shape }) => shape.type.value);
  expect(named.sort()).toEqual(types.sort());
  expect(page).toContain(`is its version, now ${JOURNAL_VERSION}:`);
});

test('every decision has its own number', () => {
  const numbers = readdirSync('docs/decisions').map((name) => name.slice(0, 3));
  expect(numbers.filter((number) => !/^\d{3}$/.test(number))).toEqual([]);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test('README lists every page, and so does the menu of the site, which is made of that list', () => {
  const [, list = ''] = readFileSync('README.md', 'utf8').split('\n## All pages\n');
  const listed = [...list.matchAll(/\]\(docs\/([\w-]+\.md)\)/g)].map(([, name]) => name);
  expect(listed.sort()).toEqual(
    readdirSync('docs')
      .filter((name) => name.endsWith('.md'))
      .sort(),
  );
});

test('the page of settings says what the code says', () => {
  expect(readFileSync('docs/settings.md', 'utf8')).toBe(settingsPage());
});

test('action.yml has the inputs and outputs that the code has', () => {
  expect(readFileSync('action.yml', 'utf8')).toBe(actionManifest());
});

test('the page on the action names the inputs and outputs that it has', () => {
  expect(readFileSync('docs/action.md', 'utf8')).toBe(actionPage());
});

test('the page on security counts the attacks of the suite, of which there are at least 400', () => {
  expect(readFileSync('docs/security.md', 'utf8')).toBe(securityPage());
  const ids = STAGES.flatMap((stage) => stage.attacks.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThanOrEqual(400);
});

test('every link to a heading of a page leads to one', () => {
  const below = (folder: string) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name));
  const pages = ['.', 'docs', 'docs/decisions'].flatMap(below);
  const places = new Map(pages.map((page) => [page, placesIn(readFileSync(page, 'utf8'))]));
  const broken = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/\]\((?!https?:)([^)\s#]*)#([^)\s]+)\)/g)]
      .map(([link, to = '', place = '']) => ({
        link,
        places: places.get(to === '' ? page : join(dirname(page), to)),
        place,
      }))
      .filter((one) => one.places !== undefined && !one.places.has(one.place))
      .map(({ link }) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

/** The names of a page's headings, as GitHub makes them. */
function placesIn(text: string): Set<string> {
  const headings = text.replace(/```[\s\S]*?```/g, '').match(/^#+ .*$/gm) ?? [];
  const named = headings.map((heading) =>
    heading
      .replace(/^#+ /, '')
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set(named);
}
