/** The task of the run. */

import type { PlanSource } from '../../src/domain/run/plan.ts';
import { block, type Child, facts, folded, h, section } from '../dom.ts';
import type { Run } from '../run.ts';

/** Longer tasks start collapsed. */
const SHORT = 1_500;

/** Title, source and globs, and the task as the model received it. */
export function planSection({ data: { result }, started }: Run): HTMLElement {
  const { plan, paths, principles } = result;
  if (plan === null) return section('plan', 'Plan', h('p', 'The run ended before its plan was read.'));
  const globs = (name: 'allow' | 'protect') => {
    const all = [...new Set([...plan[name], ...(paths?.[name] ?? [])])];
    return all.length === 0 ? null : all.slice(0, 100).flatMap((glob) => [h('code', glob), ' ']);
  };
  const named = principles.map(({ path, truncated }) => `${path}${truncated ? ' (truncated)' : ''}`);
  const title = 'The task, as the model was given it';
  return section(
    'plan',
    'Plan',
    facts([
      ['Title', plan.title],
      ['From', sourceOf(plan.source)],
      ['SHA-256', h('code.hash', plan.sha256)],
      ['May change', globs('allow') ?? 'all files'],
      ['Must not change', globs('protect')],
      ['Principles', named.join(', ')],
    ]),
    started !== null &&
      folded({ class: 'part', open: started.prompt.length <= SHORT }, [title], () =>
        block(started.prompt, 'The task'),
      ),
  );
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
      return h('span', link(source.url), ` by @${source.author}`);
  }
}

/** The address is also the text of the link, so that readers see where it leads. */
function link(url: string): Child {
  if (!/^https?:\/\/[^\s\\]+$/.test(url) || !URL.canParse(url)) return url;
  return h('a', { href: url, rel: 'noopener noreferrer' }, url);
}
