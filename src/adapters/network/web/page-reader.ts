/**
 * Reads a web page for the model: only from allowed hosts at public addresses, checked again after each redirection.
 */

import { once } from 'node:events';
import { STATUS_CODES } from 'node:http';
import { Agent, type Dispatcher, ProxyAgent, type Response, fetch as request } from 'undici';
import { innermostMessage } from '../../../domain/errors/innermost-message.ts';
import type { OnUsed } from '../../../domain/review/egress.ts';
import { parseTarget, permits, type Target } from '../../../domain/review/reachable.ts';
import { oneLine } from '../../../domain/text/terminal.ts';
import { formatNumber, listed, sentence } from '../../../domain/text/words.ts';
import { timeoutSignal } from '../../../files/time-limit.ts';
import type { PageRead, PageReader } from '../../../ports/network.ts';
import { ADDRESS_MEANINGS, codeOf, lookupAmong, resolveByMachine } from '../gate.ts';
import { proxyOptions, type Upstream } from '../machine-proxy.ts';
import { addressKind } from '../public-address.ts';
import { type MarkdownOf, mediaType, pageText, type TextMaking } from './page-text.ts';

/** Bytes of an answer after decompression. */
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_READ_MS = 30_000;
const MAX_REDIRECTIONS = 5;
const MAX_NAMED = 10;
/** The ports that `*` stands for. */
const WEB_PORTS = [443, 80];

/** What may be read. The functions default to the machine's own. */
export interface PageReaderOptions {
  /** Entries of `--web-fetch`; `*` stands for every public host. */
  readonly hosts: readonly string[];
  /** The machine's own proxy. Default: none. */
  readonly upstream?: Upstream;
  /** The addresses of a host; rejects when there are none. */
  readonly resolve?: (host: string) => Promise<string[]>;
  /** Whether requests may go to an address. */
  readonly mayConnect?: (address: string) => boolean;
  /** Sent as User-Agent. */
  readonly agent: string;
  readonly markdownOf: MarkdownOf;
  /** Called for each request of a page, and for each that is refused. Default: they are not reported. */
  readonly onUsed?: OnUsed;
  /** For one page, with all its redirections. Default: 30 s. */
  readonly limitMs?: number;
}

/** One step on the way to a page: an answer, where to continue, or why it ends here. */
type PageStep =
  | { status: 'answer'; response: Response; close: () => Promise<void> }
  | { status: 'moved'; to: URL }
  | FailedRead;

type FailedRead = Extract<PageRead, { status: 'failed' }>;

/** Reads pages, each with its own connections, so that none outlives it. */
export function openPageReader(options: PageReaderOptions): PageReader {
  const { limitMs = MAX_READ_MS } = options;
  return {
    async read(asked, outer) {
      const limit = timeoutSignal(limitMs);
      const signal = AbortSignal.any([outer, limit]);
      try {
        return await readPage(options, asked, signal);
      } catch (error) {
        if (outer.aborted) return refused('interrupted', 'Not read: the run was stopped.');
        if (limit.aborted) return refused('timeout', `Not read: it took more than ${limitMs / 1_000} s.`);
        if (!(error instanceof Error)) throw error;
        return refused('not_found', `Not read: ${oneLine(innermostMessage(error), 300)}`);
      }
    },
  };
}

async function readPage(options: PageReaderOptions, asked: string, signal: AbortSignal): Promise<PageRead> {
  const first = URL.canParse(asked) ? new URL(asked) : null;
  if (first === null)
    return refused('invalid_input', `${quoted(asked)} is not an address: write it in full, with https://.`);
  let url = first;
  for (let redirections = 0; redirections <= MAX_REDIRECTIONS; redirections += 1) {
    const step = await stepTo(options, url, signal);
    if (step.status === 'failed') return step;
    if (step.status === 'moved') {
      url = step.to;
      continue;
    }
    try {
      return await answerOf(url, step.response, { markdownOf: options.markdownOf, signal });
    } finally {
      await step.close();
    }
  }
  return refused(
    'not_found',
    `Not read: more than ${MAX_REDIRECTIONS} redirections, the last to ${quoted(url.href)}.`,
  );
}

/** Sends a request to one address, if that is allowed. */
async function stepTo(options: PageReaderOptions, url: URL, signal: AbortSignal): Promise<PageStep> {
  const { onUsed = () => undefined } = options;
  const { host } = url;
  const failed = (error: unknown) => {
    const why = error instanceof Error ? oneLine(innermostMessage(error), 300) : '';
    onUsed({ host, outcome: 'failed', why });
    throw error;
  };
  const way = await wayTo(options, url, signal).catch(failed);
  if ('status' in way) {
    onUsed({ host, outcome: way.reason === 'policy' ? 'refused' : 'failed', why: way.message });
    return way;
  }
  const { dispatcher } = way;
  const close = () => dispatcher.destroy();
  let response: Response;
  try {
    const headers = {
      accept: 'text/markdown, text/html, application/json, text/plain, */*;q=0.5',
      'user-agent': options.agent,
    };
    response = await request(url, { dispatcher, signal, redirect: 'manual', headers });
  } catch (error) {
    await close();
    return failed(error);
  }
  onUsed({ host, outcome: 'reached', why: '' });
  const location = response.headers.get('location');
  if (response.status < 300 || response.status > 399 || location === null)
    return { status: 'answer', response, close };
  await close();
  if (!URL.canParse(location, url.href))
    return refused(
      'not_found',
      `Not read: ${quoted(url.href)} leads to ${quoted(location)}, which is not an address.`,
    );
  const to = new URL(location, url);
  if (url.protocol === 'https:' && to.protocol !== 'https:') {
    const message = `Not read: ${quoted(url.href)} leads from https to ${quoted(to.href)}.`;
    onUsed({ host: to.host, outcome: 'refused', why: message });
    return refused('policy', message);
  }
  return { status: 'moved', to };
}

/** How to reach an address: directly, at one of the checked addresses, or through the machine's proxy. */
async function wayTo(
  { hosts, upstream, resolve = resolveByMachine, mayConnect = isPublic }: PageReaderOptions,
  url: URL,
  signal: AbortSignal,
): Promise<{ dispatcher: Dispatcher } | FailedRead> {
  const target = targetOf(url);
  if (typeof target === 'string') return refused('policy', `Not read: ${target}`);
  const isAllowed = permits(hosts, target) || (hosts.includes('*') && WEB_PORTS.includes(target.port));
  if (!isAllowed)
    return refused(
      'policy',
      `Not read: ${url.host} is not one of the hosts that may be read (--web-fetch: ${listed(hosts, MAX_NAMED)}).`,
    );
  const via = upstream?.routeTo(target, url.protocol === 'http:') ?? null;
  if (typeof via === 'string')
    return refused('not_found', `Not read: ${target.host} cannot be reached: ${via}.`);
  const resolving = resolve(target.host).catch((error: unknown) => {
    // Behind a proxy, a machine often cannot resolve names of the internet.
    if (via !== null) return [];
    throw new Error(`${target.host} has no address (${codeOf(error)}).`);
  });
  // A lookup cannot be cancelled, and a name server may keep it waiting.
  const addresses = await Promise.race([resolving, abortOf(signal)]);
  const closed = addresses.find((address) => !mayConnect(address));
  if (closed !== undefined)
    return refused(
      'policy',
      `Not read: ${target.host} resolves to ${closed}: ${ADDRESS_MEANINGS[addressKind(closed)]}.`,
    );
  if (via !== null) return { dispatcher: new ProxyAgent(proxyOptions(via, url.protocol === 'https:')) };
  return { dispatcher: new Agent({ connect: { lookup: lookupAmong(addresses) } }) };
}

/** The host and port of an address, or why no request may go there. */
function targetOf(url: URL): Target | string {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `${quoted(url.protocol)} is neither https nor http.`;
  if (url.username !== '' || url.password !== '')
    return 'an address with a user name or password is not asked.';
  const target = parseTarget(url.host, url.protocol === 'https:' ? 443 : 80);
  return typeof target === 'string' ? `${quoted(url.host)}: ${target}.` : target;
}

async function answerOf(url: URL, response: Response, making: TextMaking): Promise<PageRead> {
  const type = response.headers.get('content-type') ?? '';
  const { bytes, isCut } = await firstBytes(response.body, MAX_BYTES);
  if (!response.ok) {
    const said = await pageText(bytes, type, making);
    // The server's own words for the status get lost on the way through a proxy.
    const { status } = response;
    const what = `${quoted(url.href)} answered ${status} ${STATUS_CODES[status] ?? ''}`.trim();
    const words = said.status === 'ok' ? said.text.slice(0, MAX_ERROR_CHARS) : '';
    return refused('not_found', words === '' ? `${what}.` : `${what}:\n\n${words}`);
  }
  const read = await pageText(bytes, type, making);
  if (read.status === 'failed')
    return refused(
      'not_text',
      sentence(`${quoted(url.href)} (${formatNumber(bytes.length)} bytes) ${read.why}`),
    );
  return { status: 'ok', url: url.href, type: mediaType(type), bytes: bytes.length, isCut, text: read.text };
}

const MAX_ERROR_CHARS = 2_000;

/** Rejects with its reason when the signal aborts. */
async function abortOf(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}

const isPublic = (address: string) => addressKind(address) === 'public';

function quoted(text: string): string {
  return oneLine(JSON.stringify(text), 300);
}

function refused(reason: FailedRead['reason'], message: string): FailedRead {
  return { status: 'failed', reason, message };
}

/** At most `max` bytes of the body; the rest is not read. */
async function firstBytes(
  body: AsyncIterable<Uint8Array> | null,
  max: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body ?? []) {
    pieces.push(piece);
    length += piece.length;
    if (length > max) break;
  }
  return { bytes: Buffer.concat(pieces).subarray(0, max), isCut: length > max };
}
