/** Services of this machine that commands may reach: the entries of `--service`. */

import * as z from 'zod';
import { shownEntry } from './allowed-domain.ts';

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
const ENTRY = new RegExp(`^(${LABEL})=(?:(/[^\\0\\n:]+)|(${LABEL}(?:\\.${LABEL})*)):(\\d{1,5})$`);

/** A service, and where it is. */
export interface ServicePlace {
  /** Its name in the sandbox, where it listens at `port` of the loopback interface. */
  readonly name: string;
  readonly port: number;
  /** Outside: the host, with the same port, or the path of a UNIX socket. */
  readonly target: { readonly host: string; readonly port: number } | { readonly path: string };
}

/** `postgres=localhost:5432`, or with a UNIX socket `postgres=/run/postgresql/.s.PGSQL.5432:5432`. */
export const Service = z
  .string()
  .trim()
  .superRefine((entry, context) => {
    const problem = problemOf(entry);
    if (problem !== null) context.addIssue({ code: 'custom', message: `${shownEntry(entry)}: ${problem}` });
  });

/** The parts of a valid entry. */
export function servicePlace(entry: string): ServicePlace {
  const [, name = '', path, host = '', digits] = ENTRY.exec(entry) ?? [];
  const port = Number(digits);
  return { name, port, target: path === undefined ? { host, port } : { path } };
}

/** Why these cannot be offered side by side, apart from the port that is `taken`; null if they can. */
export function whyNotTogether(services: readonly ServicePlace[], taken: number): string | null {
  const ports = [taken, ...services.map(({ port }) => port)];
  const twice = services.find(({ port }, at) => ports.indexOf(port) <= at);
  return twice === undefined
    ? null
    : `--service ${twice.name}: port ${twice.port} of the sandbox is in use already. Let the service listen at another.`;
}

function problemOf(entry: string): string | null {
  const { name, port } = servicePlace(entry);
  if (name === '') return 'expected a service such as postgres=localhost:5432';
  if (name.toLowerCase() === 'localhost') return 'localhost is the sandbox itself; choose another name';
  return port < 1 || port > 65_535 ? 'the port is out of range' : null;
}
