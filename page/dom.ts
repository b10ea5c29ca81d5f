/** Creates elements. Text stays text: the page's policy does not allow strings to become markup. */

import { visible } from './visible.ts';

/** A child of an element. Null and false add nothing; a string is shown as it is. */
export type Child = Node | string | number | null | false | undefined;

/** One of them, or several. */
export type Children = Child | Iterable<Child>;

/** Attributes by name, and handlers as `onclick`. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>
>;

/** Creates an HTML element. Invisible characters in its text are marked. */
export function h<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Children[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name);
  dress(element, attributes);
  put(element, ...children);
  return element;
}

/** Appends children. */
export function put(element: Element, ...children: readonly Children[]): void {
  for (const child of children.flatMap(one)) {
    if (child === null || child === undefined || child === false) continue;
    if (typeof child === 'object') element.append(child);
    else element.append(...visible(String(child)));
  }
}

function one(children: Children): Child[] {
  return typeof children === 'object' && children !== null && !(children instanceof Node)
    ? [...children]
    : [children];
}

function dress(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
}

/** A collapsible part. Its content is created when it is first opened. */
export function folded(
  attributes: Attributes,
  summary: readonly Child[],
  content: () => readonly Child[],
): HTMLDetailsElement {
  const details = h('details', attributes, h('summary', {}, ...summary));
  let isFilled = false;
  const fill = () => {
    if (isFilled || !details.open) return;
    isFilled = true;
    put(details, content());
  };
  details.addEventListener('toggle', fill);
  details.addEventListener('reveal', () => {
    details.open = true;
    fill();
  });
  fill();
  return details;
}

/** Opens a collapsible part at once, so that the page can scroll to something in it. */
export function reveal(details: Element): void {
  details.dispatchEvent(new Event('reveal'));
}

/** Preformatted text, as a program or a person wrote it. */
export function block(text: string, label: string): HTMLElement {
  return h('pre', { class: 'text', tabindex: 0, role: 'region', 'aria-label': label }, text);
}

/** A list of names and values. Entries without a value are left out. */
export function facts(entries: readonly (readonly [string, Children])[]): HTMLElement {
  const shown = entries.filter(([, value]) => value !== null && value !== '' && value !== undefined);
  return h(
    'dl',
    { class: 'facts' },
    shown.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, value))),
  );
}
