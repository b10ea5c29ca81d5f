/** Builds the page from the data in it, without any requests. */

import type { ReportData } from '../src/domain/report/report-data.ts';
import { h } from './dom.ts';
import { runOf } from './run.ts';
import { aboutSection, planSection } from './sections/about.ts';
import { changesSection } from './sections/changes.ts';
import { pointsSection } from './sections/points.ts';
import { timelineSection } from './sections/timeline.ts';
import { verdictSection, verifySection } from './sections/verdict.ts';

const SECTIONS: readonly (readonly [id: string, name: string])[] = [
  ['verdict', 'Outcome'],
  ['plan', 'Plan'],
  ['changes', 'Changes'],
  ['timeline', 'Timeline'],
  ['verify', 'Verification'],
  ['points', 'Denied, flags, warnings'],
  ['files', 'Files'],
];

function main(): void {
  const text = (id: string) => document.getElementById(id)?.textContent ?? '';
  const data: ReportData = JSON.parse(text('data'));
  const run = runOf(data);
  const changes = changesSection(run, atob(text('patch')));
  const timeline = timelineSection(run, changes.madeBy);
  const page = h(
    'main',
    { id: 'main', tabindex: -1 },
    [verdictSection(run), planSection(run), changes.section, timeline.section],
    [verifySection(run), pointsSection(run), aboutSection(run)],
  );
  const header = h(
    'header.top',
    h('a.skip.sr', { href: '#main' }, 'Skip to the report'),
    h('span.brand', 'patchsmith'),
    h('code.run-id', data.result.runId),
  );
  const links = SECTIONS.map(([id, name]) => h('li', h('a', { href: `#${id}` }, name)));
  const contents = h('nav', { 'aria-label': 'Sections' }, h('ul', links));
  document.getElementById('plain')?.replaceWith(header, contents, page);

  const follow = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    if (!/^[a-z]+(?:[\d-][\dh-]*)?$/.test(id)) return;
    changes.reveal(id);
    timeline.reveal(id);
    const target = document.getElementById(id);
    if (target === null) return;
    // A collapsible part with a tabindex would keep the tab key out of its content.
    const focused = target.matches('details') ? target.querySelector('summary') : target;
    if (focused instanceof HTMLElement && focused.matches('summary, [tabindex]'))
      focused.focus({ preventScroll: true });
    scrollTo(target);
  };
  window.addEventListener('hashchange', follow);
  // The same link was clicked again: the address stays the same, but its target may have been closed since.
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (link?.hash && link.hash === location.hash) follow();
  });
  follow();
}

/** Scrolls until the position is stable: content on the way is only laid out when it comes into view. */
function scrollTo(target: Element, before = Number.NaN, left = 30): void {
  target.scrollIntoView({ block: 'start' });
  const { top } = target.getBoundingClientRect();
  const isSettled = Math.abs(top - before) < 1;
  const next = isSettled ? left - 6 : left - 1;
  if (next > 0) requestAnimationFrame(() => scrollTo(target, top, next));
}

main();
