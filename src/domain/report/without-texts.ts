/** The page of a run whose patch is withheld: nothing that could quote it. */

import { pageJson } from './page-json.ts';
import type { ReportEvent } from './report-data.ts';

/** The same events, as JSON, without anything that the model, a call or a command has said. */
export function withoutTexts(json: string): string {
  const events: ReportEvent[] = JSON.parse(json);
  return pageJson(events.map(withoutText));
}

function withoutText(event: ReportEvent): ReportEvent {
  switch (event.type) {
    case 'turn':
      return { ...event, text: '', calls: event.calls.map((call) => ({ ...call, about: '', input: [] })) };
    case 'verify':
      return { ...event, reports: event.reports.map((report) => ({ ...report, output: '' })) };
    case 'done':
    case 'note':
      return { ...event, text: '' };
    case 'started':
    case 'lost':
    case 'call':
    case 'change':
    case 'resumed':
      return event;
  }
}
