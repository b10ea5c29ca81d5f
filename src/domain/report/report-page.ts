/** Puts a run into the prebuilt page: plain text at its top, everything else as data that its script shows. */

import type { RunResult } from '../run/result.ts';
import { oneLine } from '../text/terminal.ts';
import { pageJson } from './page-json.ts';
import type { ReportData } from './report-data.ts';

/** The values to insert, by the names of their placeholders. */
interface PageParts {
  readonly title: string;
  readonly outcome: string;
  readonly reason: string;
  readonly data: string;
  readonly patch: string;
}

/** `events` is a JSON array that was made inert, `patchBase64` what the page shows of the patch. */
export function reportPage(
  template: string,
  data: Omit<ReportData, 'events'>,
  { events, patchBase64 }: { readonly events: string; readonly patchBase64: string },
): string {
  const { result } = data;
  const parts: PageParts = {
    title: asText(titleOf(result)),
    outcome: asText(outcomeOf(result)),
    reason: asText(result.reason),
    // The events were made JSON as they happened.
    data: `${pageJson(data).slice(0, -1)},"events":${events}}`,
    patch: patchBase64,
  };
  return template
    .split(MARK)
    .map((piece, at) => (at % 2 === 0 ? piece : parts[piece as keyof PageParts]))
    .join('');
}

/** `<!--=name=-->` in the page; the name is captured. */
const MARK = /<!--=(title|outcome|reason|data|patch)=-->/;

function titleOf({ outcome, plan, runId }: RunResult): string {
  return `${outcome ?? 'running'}: ${plan?.title ?? 'no plan'} (${runId})`;
}

function outcomeOf({ outcome, exitCode }: RunResult): string {
  return outcome === null ? 'running' : `${outcome} (exit ${exitCode ?? 'unknown'})`;
}

/** One line without anything that could be markup. */
function asText(text: string): string {
  return oneLine(text, 4_000).replace(/[&<>"'`]/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
