/**
 * Finds the parts of Markdown that pages do not show. Reads the parser's events: a tree of hostile Markdown could be
 * deeper than the stack.
 */

import { parse, postprocess, preprocess } from 'micromark';
import { gfmFootnote } from 'micromark-extension-gfm-footnote';
import { gfmTable } from 'micromark-extension-gfm-table';
import { normalizeIdentifier } from 'micromark-util-normalize-identifier';
import { HiddenElements, type HiddenRange, hiddenInHtml, type Span } from './hidden-html.ts';

/** Emphasis hides nothing, and in hostile texts it can be slow to find. */
const EXTENSIONS = [gfmFootnote(), gfmTable(), { disable: { null: ['attention'] } }];

/** What is hidden in `source`, in no particular order; ranges may be nested. */
export function hiddenInMarkdown(source: string): HiddenRange[] {
  const events = postprocess(
    parse({ extensions: EXTENSIONS })
      .document()
      .write(preprocess()(source, undefined, true)),
  );
  const reading = begun(source);
  for (const [kind, token] of events) {
    const span = { from: token.start.offset, to: token.end.offset };
    HANDLERS[token.type]?.[kind]?.(reading, span);
  }
  const { cuts, elements, definitions, used } = reading;
  // The first definition of a name takes precedence over all later ones.
  const unused = definitions.filter(({ name }) => !used.delete(name));
  return [
    ...cuts,
    ...elements.endOfSource(source.length),
    ...unused.map(({ from, to }) => other({ from, to })),
  ];
}

/** The state of the Markdown up to one event. */
interface MarkdownState {
  readonly source: string;
  readonly cuts: HiddenRange[];
  readonly elements: HiddenElements;
  /** Lines of the current piece of HTML. */
  html: Span[];
  readonly definitions: (Span & { readonly name: string })[];
  /** Names of definitions that are referred to. */
  readonly used: Set<string>;
  /** The enclosing links, images and definitions, innermost last. */
  readonly opened: { from: number; label: string }[];
  /** Of the current table, and of its row. */
  columns: number;
  cells: number;
  /** Whether the parser is inside a diagram, and there inside a multi-line directive. */
  diagram: 'none' | 'lines' | 'directive';
}

function begun(source: string): MarkdownState {
  return {
    source,
    cuts: [],
    elements: new HiddenElements(),
    html: [],
    definitions: [],
    used: new Set(),
    opened: [],
    columns: 0,
    cells: 0,
    diagram: 'none',
  };
}

type MarkdownHandler = (reading: MarkdownState, span: Span) => void;

/** By the name of the parser's token. */
const HANDLERS: Readonly<
  Partial<Record<string, { readonly enter?: MarkdownHandler; readonly exit?: MarkdownHandler }>>
> = {
  htmlFlow: { enter: beginHtml, exit: (reading) => endHtml(reading, true) },
  htmlText: { enter: beginHtml, exit: (reading) => endHtml(reading, false) },
  htmlFlowData: { enter: takeHtml },
  htmlTextData: { enter: takeHtml },
  // In a quote, the parser counts the next line's marker as part of the line ending.
  lineEnding: { enter: (reading, { from }) => takeHtml(reading, { from, to: from + 1 }) },

  paragraph: { exit: endText },
  atxHeading: { exit: endText },
  setextHeading: { exit: endText },

  tableHead: {
    enter: (reading) => {
      reading.columns = 0;
    },
  },
  tableRow: {
    enter: (reading) => {
      reading.cells = 0;
    },
  },
  tableHeader: {
    enter: (reading) => {
      reading.columns += 1;
    },
    exit: endText,
  },
  tableData: { enter: beginCell, exit: endText },

  codeFenced: {
    enter: (reading) => {
      reading.diagram = 'none';
    },
  },
  codeFencedFenceInfo: {
    enter: (reading, span) => {
      if (textOf(reading, span).toLowerCase() === 'mermaid') reading.diagram = 'lines';
    },
  },
  codeFlowValue: { enter: readCode },

  resourceTitle: { enter: hide },
  definitionTitle: { enter: hide },
  codeFencedFenceMeta: { enter: hide },

  image: { enter: open, exit: endImage },
  link: { enter: open, exit: (reading) => void reading.used.add(close(reading).name) },
  definition: { enter: open, exit: (reading, span) => endDefinition(reading, span, '') },
  gfmFootnoteDefinition: { enter: open, exit: (reading, span) => endDefinition(reading, span, '^') },
  // An address instead of a name.
  resource: { enter: (reading) => label(reading, ''), exit: (reading) => label(reading, '') },
  labelText: { exit: takeLabel },
  referenceString: { exit: takeLabel },
  definitionLabelString: { exit: takeLabel },
  gfmFootnoteDefinitionLabelString: { exit: takeLabel },
  gfmFootnoteCallString: {
    enter: (reading, span) => void reading.used.add(`^${normalizeIdentifier(textOf(reading, span))}`),
  },
};

function textOf({ source }: MarkdownState, { from, to }: Span): string {
  return source.slice(from, to);
}

function other({ from, to }: Span): HiddenRange {
  return { from, to, by: '', what: 'other' };
}

function hide({ cuts }: MarkdownState, span: Span): void {
  cuts.push(other(span));
}

function beginHtml(reading: MarkdownState): void {
  reading.html = [];
}

function takeHtml({ html }: MarkdownState, span: Span): void {
  html.push(span);
}

function endHtml({ source, html, elements, cuts }: MarkdownState, isBlock: boolean): void {
  cuts.push(...hiddenInHtml({ source, spans: html, isBlock }, elements));
}

function endText({ cuts, elements }: MarkdownState, { to }: Span): void {
  cuts.push(...elements.endOfText(to));
}

function beginCell(reading: MarkdownState, span: Span): void {
  reading.cells += 1;
  if (reading.cells > reading.columns) hide(reading, span);
}

function readCode(reading: MarkdownState, { from, to }: Span): void {
  const text = textOf(reading, { from, to });
  if (reading.diagram === 'none') return;
  if (reading.diagram === 'lines' && !/^\s*%%/.test(text)) return;
  reading.cuts.push({ from, to, by: '', what: 'comment' });
  if (reading.diagram === 'directive' || /^\s*%%\{/.test(text))
    reading.diagram = text.includes('}%%') ? 'lines' : 'directive';
}

function open({ opened }: MarkdownState, { from }: Span): void {
  opened.push({ from, label: '' });
}

function close({ opened }: MarkdownState): { from: number; name: string } {
  const closed = opened.pop();
  if (closed === undefined) throw new Error('The parser closed an element that it had not opened.');
  return { from: closed.from, name: normalizeIdentifier(closed.label) };
}

function endImage(reading: MarkdownState, { from, to }: Span): void {
  close(reading);
  reading.cuts.push({ from, to, by: '[image]', what: 'image' });
}

/** `mark` distinguishes footnotes from links with the same name. */
function endDefinition(reading: MarkdownState, { to }: Span, mark: string): void {
  const { from, name } = close(reading);
  reading.definitions.push({ name: mark + name, from, to });
}

function label({ opened }: MarkdownState, text: string): void {
  const innermost = opened.at(-1);
  if (innermost) innermost.label = text;
}

function takeLabel(reading: MarkdownState, span: Span): void {
  label(reading, textOf(reading, span));
}
