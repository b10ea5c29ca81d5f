/**
 * The docs site: README.md as its front page, and the pages of docs/, which the build copies to pages/.
 * `npm run docs:site` writes it to site/.vitepress/dist.
 */

import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { defineConfig } from 'vitepress';

const { homepage } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const repository = homepage.replace(/#.*$/, '');

/** The pages in the groups of README's table, which lists them all. */
function sidebar() {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const rows = readme.slice(readme.indexOf('\n## All pages\n')).matchAll(/^\| ([A-Z][^|]*) \| (.*) \|$/gm);
  return [...rows].map(([, text = '', links = '']) => ({
    text,
    items: [...links.matchAll(/\[([^\]]*)\]\((docs\/[\w-]+)\.md\)/g)].map(([, name = '', page]) => ({
      text: name[0].toUpperCase() + name.slice(1),
      link: `/${page}`,
    })),
  }));
}

/** Where a link of a page leads on the site: to a page of it, or to the repository for all that is not one. */
function onSite(page: string, link: string): string {
  if (/^(?:[a-z]+:|#|\/)/.test(link)) return link;
  const [path = '', anchor] = link.split('#');
  const target = posix.join(posix.dirname(page), path);
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (target === 'README.md') return `/${hash}`;
  return /^docs\/.*\.md$/.test(target) ? `/${target}${hash}` : `${repository}/blob/main/${target}${hash}`;
}

export default defineConfig({
  // Where it is served: / or, on GitHub Pages, /NAME/.
  base: process.env.DOCS_BASE ?? '/',
  title: 'patchsmith',
  description: 'A coding agent for CI: a plan in, a proven patch out.',
  srcDir: 'pages',
  themeConfig: {
    search: { provider: 'local' },
    sidebar: sidebar(),
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
  },
  markdown: {
    // <id> is text.
    html: false,
    config(md) {
      // Vue would take {{ … }}, as workflows have it, for code of its own.
      for (const rule of ['text', 'code_inline'] as const) {
        const render = md.renderer.rules[rule];
        md.renderer.rules[rule] = (...given) => (render?.(...given) ?? '').replaceAll('{{', '&#123;&#123;');
      }
      md.core.ruler.push('links-on-site', ({ tokens, env }) => {
        for (const token of tokens.flatMap(({ children }) => children ?? [])) {
          const link = token.type === 'link_open' ? token.attrGet('href') : null;
          if (link !== null) token.attrSet('href', onSite(env.relativePath, link));
        }
      });
    },
  },
});
