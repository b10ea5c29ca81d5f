/** The task of the run. */

import type { PlanSource } from '../../src/domain/run/plan.ts';
import { block, type Child, facts, folded, h, put } from '../dom.ts';
import type { Run } from '../run.ts';

/** Longer tasks start collapsed. */
const SHORT = 1_500;

/** Title, source and globs, and the task as the model received it. */
export function planSection({ data: { result }, started }: Run): HTMLElement {
  const section = h(
    'section',
    { id: 'plan', 'aria-labelledby': 'plan-title' },
    h('h2', { id: 'plan-title' }, 'Plan'),
  );
  const { plan, paths, principles } = result;
  if (plan === null) {
    put(section, h('p', {}, 'The run ended before its plan was read.'));
    return section;
  }
  const rules = (name: 'allow' | 'protect') => [...new Set([...plan[name], ...(paths?.[name] ?? [])])];
  put(
    section,
    facts([
      ['Title', plan.title],
      ['From', sourceOf(plan.source)],
      ['SHA-256', h('code', { class: 'hash' }, plan.sha256)],
      ['May change', globs(rules('allow')) ?? 'all files'],
      ['Must not change', globs(rules('protect')) ?? null],
      [
        'Principles',
        principles.length === 0
          ? null
          : principles.map(({ path, truncated }) => `${path}${truncated ? ' (truncated)' : ''}`).join(', '),
      ],
    ]),
  );
  if (started !== null)
    put(
      section,
      folded(
        { class: 'part', open: started.prompt.length <= SHORT },
        ['The task, as the model was given it'],
        () => [block(started.prompt, 'The task')],
      ),
    );
  return section;
}

function globs(patterns: readonly string[]): Child[] | null {
  if (patterns.length === 0) return null;
  return patterns.slice(0, 100).flatMap((glob) => [h('code', {}, glob), ' ']);
}

function sourceOf(source: PlanSource): Child {
  switch (source.kind) {
    case 'file':
      return source.path;
    case 'stdin':
      return 'stdin';
    case 'message':
      return '--message';
    case 'issue':
    case 'comment':
      return h('span', {}, link(source.url), ` by @${source.author}`);
  }
}

/** The address is also the text of the link, so that readers see where it leads. */
function link(url: string): Child {
  if (!/^https?:\/\/[^\s\\]+$/.test(url) || !URL.canParse(url)) return url;
  return h('a', { href: url, rel: 'noopener noreferrer' }, url);
}
