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

type Tag = keyof HTMLElementTagNameMap;
type TagOf<Selector> = Selector extends `${infer Name}.${string}` ? Name & Tag : Selector & Tag;

/**
 * Creates an HTML element from its name and classes, such as `p.callout.warn`, with attributes and children. Invisible
 * characters in its text are marked.
 */
export function h<const Selector extends Tag | `${Tag}.${string}`>(
  selector: Selector,
  ...content: readonly (Attributes | Children)[]
): HTMLElementTagNameMap[TagOf<Selector>] {
  const [name, ...classes] = selector.split('.');
  const element = document.createElement(name as TagOf<Selector>);
  element.classList.add(...classes);
  for (const one of content) {
    if (isAttributes(one)) dress(element, one);
    else put(element, one);
  }
  return element;
}

function isAttributes(content: Attributes | Children): content is Attributes {
  return (
    typeof content === 'object' && content !== null && Object.getPrototypeOf(content) === Object.prototype
  );
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

/** A section of the page under its heading. */
export function section(id: string, title: string, ...content: readonly Children[]): HTMLElement {
  const heading = h('h2', { id: `${id}-title` }, title);
  return h('section', { id, 'aria-labelledby': `${id}-title` }, heading, ...content);
}

/** A collapsible part. Its content is created when it is first opened. */
export function folded(
  attributes: Attributes,
  summary: readonly Child[],
  content: () => Children,
): HTMLDetailsElement {
  const details = h('details', attributes, h('summary', summary));
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

/** A button that gives way to what it shows. */
export function moreButton(text: string, show: () => void): HTMLElement {
  const button = h('button.more', { type: 'button' }, text);
  button.addEventListener('click', () => {
    button.remove();
    show();
  });
  return button;
}

/** Preformatted text, as a program or a person wrote it. */
export function block(text: string, label: string): HTMLElement {
  return h('pre.text', { tabindex: 0, role: 'region', 'aria-label': label }, text);
}

/** A list of names and values. Entries without a value are left out. */
export function facts(entries: readonly (readonly [string, Children])[]): HTMLElement {
  const shown = entries.filter(([, value]) => value);
  return h(
    'dl.facts',
    shown.map(([name, value]) => h('div', h('dt', name), h('dd', value))),
  );
}
