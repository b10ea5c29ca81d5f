/** A GitHub that is only read from: writes are reported instead. */

import type { GitHub } from '../../ports/github.ts';

/** `tell` is called for each write with one line: method, path and body. */
export function dryRun(github: GitHub, tell: (line: string) => void): GitHub {
  return {
    ask(request) {
      const { route, parameters = {}, planned } = request;
      if (route.startsWith('GET ')) return github.ask(request);
      if (planned === undefined) throw new Error(`${route} does not say what it plans.`);
      const inPath = new Set<string>();
      const path = route.replace(/\{(\w+)\}/g, (_, name: string) => {
        inPath.add(name);
        return encodeURIComponent(String(parameters[name]));
      });
      const body = Object.fromEntries(Object.entries(parameters).filter(([name]) => !inPath.has(name)));
      tell(Object.keys(body).length === 0 ? path : `${path} ${JSON.stringify(body, shortened)}`);
      return Promise.resolve({ status: 'ok', data: planned });
    },
    list: (asked) => github.list(asked),
    query(asked) {
      const { query, variables, planned } = asked;
      if (query.startsWith('query ')) return github.query(asked);
      if (planned === undefined) throw new Error(`${query} does not say what it plans.`);
      tell(`POST /graphql ${JSON.stringify({ query, variables })}`);
      return Promise.resolve({ status: 'ok', data: planned });
    },
  };
}

/** Maximum characters shown of a file. */
const MAX_SHOWN = 200;

/** Of a file's content only the beginning is shown; everything else is shown in full. */
function shortened(name: string, value: unknown): unknown {
  if (name !== 'content' || typeof value !== 'string' || value.length <= MAX_SHOWN) return value;
  return `${value.slice(0, MAX_SHOWN)}… (${value.length} characters)`;
}
