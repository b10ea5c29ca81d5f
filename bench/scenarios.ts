/** What is measured, and how a row of the report comes out of it. */

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { defaultProvider } from '../src/adapters/providers/registry.ts';
import { costOf } from '../src/domain/run/pricing.ts';
import { CLAUDE, OTHER_APIS } from './apis.ts';
import { CLIENTS, type ClientName, type Programs } from './clients.ts';
import type { FenceTimes } from './fence.ts';
import { EDITED, restore } from './repositories.ts';
import { type ApiServer, type Measured, measure } from './run-client.ts';
import {
  FAULTS,
  faults,
  kindsOf,
  LOOKS,
  largeOutput,
  NOTHING_FOUND,
  outputsOf,
  parallelCommands,
  type TurnKind,
  workOf,
} from './scripts.ts';
import type { SnapshotTimes } from './snapshot.ts';

/** One row. `against` is what the product is compared with; `figure` is what the aim is about. */
export interface Row {
  readonly what: string;
  readonly unit: 'ms' | 'MB' | 'USD' | 'requests';
  readonly product: number;
  readonly floor: number | null;
  readonly bundled: number | null;
  readonly aim: { readonly figure: number; readonly atMost: number; readonly as: string } | null;
}

export interface Bench {
  readonly programs: Programs;
  readonly server: ApiServer;
  readonly rounds: number;
  /** Roots by the number of their files; made when they are first asked for. */
  repository(files: number): string;
}

type Runs = Readonly<Record<ClientName, readonly Measured[]>>;
const SMALL = 60;
const MEGABYTE = 1_000_000;
/** Eight turns, of which the first asks for the whole of the baseline at once. */
const LARGE_WORK = workOf(8, ['command', 'read', 'list', 'edit', 'search']);

export const SCENARIOS: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  async start(bench) {
    const runs = await interleaved(bench, SMALL, workOf(4, ['read', 'edit', 'command']));
    const row = rowMaker(runs);
    return [
      row('start to first request', 'ms', (run) => run.startMs, 0.6),
      atMostOf(
        row('last answer to exit', 'ms', (run) => run.exitMs),
        40,
      ),
      row('CPU of 4 turns, children included', 'ms', (run) => run.cpuMs),
      row('peak RSS of 4 turns', 'MB', (run) => run.peakRss / MEGABYTE, 1),
    ];
  },

  async turns(bench) {
    const kinds = ['read', 'edit', 'command'] as const;
    const runs = await interleaved(bench, SMALL, workOf(25, kinds));
    const row = rowMaker(runs);
    const of = (kind: TurnKind) => (run: Measured) =>
      median(run.turnMs.filter((_, at) => kindsOf(25, kinds)[at] === kind));
    const command = row('a turn with one command', 'ms', of('command'));
    return [
      row('a turn with one read, of 25 turns', 'ms', of('read'), 1.5),
      row('a turn with one edit, of 25 turns', 'ms', of('edit'), 1.5),
      { ...command, aim: { figure: command.product - (command.floor ?? 0), atMost: 10, as: 'floor + ms' } },
      row('CPU of 25 turns, children included', 'ms', (run) => run.cpuMs),
      row('peak RSS of 25 turns', 'MB', (run) => run.peakRss / MEGABYTE, 1),
    ];
  },

  async long(bench) {
    const runs = await interleaved(bench, SMALL, workOf(200, ['read', 'edit']), 0.4);
    const short = await interleaved(bench, SMALL, workOf(4, ['read', 'edit']), 0.4, ['product']);
    const row = rowMaker(runs);
    const window = (turn: number) => (run: Measured) => median(run.turnMs.slice(turn - 6, turn + 5));
    const growth = medianOf(runs.product, rss) - medianOf(short.product, rss);
    const late = row('around turn 190 of 200', 'ms', window(190));
    return [
      row('a turn without commands, of 200 turns', 'ms', (run) => median(run.turnMs), 1.5),
      row('around turn 10 of 200', 'ms', window(10)),
      {
        ...late,
        aim: {
          figure: medianOf(runs.product, (run) => window(190)(run) / window(10)(run)),
          atMost: 1.1,
          as: '× turn 10',
        },
      },
      atMostOf(
        row('200 turns, from start to end', 'ms', (run) => run.wallMs),
        2_500,
      ),
      row('CPU of 200 turns', 'ms', (run) => run.cpuMs),
      {
        ...row('peak RSS of 200 turns', 'MB', rss, 1),
      },
      {
        ...plain('growth of peak RSS from 4 to 200 turns', 'MB', growth),
        aim: { figure: growth, atMost: 20, as: 'MB' },
      },
    ];
  },

  /** The same turns by each API, interleaved with Claude's, which stands in place of the floor. */
  async providers(bench) {
    const { programs, server, rounds, repository } = bench;
    const root = repository(SMALL);
    const turns = workOf(9, ['read']);
    const apis = { Claude: CLAUDE, ...OTHER_APIS };
    const runs = new Map<string, Measured[]>(Object.keys(apis).map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1)
      for (const [name, api] of Object.entries(apis)) {
        restore(root);
        runs.get(name)?.push(await measure(server, programs.clients.product, root, turns, api));
      }
    const rowsOf = (what: string, of: (run: Measured) => number) => {
      const floor = medianOf(runs.get('Claude') ?? [], of);
      return Object.keys(OTHER_APIS).map((name) => {
        const product = medianOf(runs.get(name) ?? [], of);
        const aim = { figure: product / floor, atMost: 1.2, as: '× Claude' };
        return { ...plain(`${what}, ${name} (floor: Claude)`, 'ms', product), floor, aim };
      });
    };
    return [
      ...rowsOf('start to first request', (run) => run.startMs),
      ...rowsOf('a turn with one read', (run) => median(run.turnMs)),
      ...rowsOf('CPU of 9 turns', (run) => run.cpuMs),
    ];
  },

  /** What the first message saves where it spares three turns of looking around, which is an assumption, in place of the floor with them. */
  async orientation({ programs, server, repository }) {
    const root = repository(SMALL);
    const work = workOf(4, ['read', 'edit', 'command']);
    const billOf = async (turns: typeof work) => {
      restore(root);
      return (await measure(server, programs.clients.product, root, turns)).usd;
    };
    const [said, looked] = [await billOf(work), await billOf([...LOOKS, ...work])];
    const aim = { figure: said / looked, atMost: 0.7, as: '× with looks' };
    return [
      {
        ...plain('bill of 4 turns, without 3 turns of looking around (floor: with them)', 'USD', said),
        floor: looked,
        aim,
      },
    ];
  },

  /** What three attempts cost and take, in place of the floor one. The model answers at once here. */
  async attempts({ programs, server, rounds, repository }) {
    const root = repository(SMALL);
    const work = workOf(9, ['read', 'edit', 'command']);
    const runs = { one: [] as Measured[], three: [] as Measured[] };
    for (let round = 0; round < Math.max(3, Math.round(rounds * 0.4)); round += 1) {
      restore(root);
      runs.one.push(await measure(server, programs.clients.product, root, work));
      restore(root);
      const command = withFlags(programs, '--attempts', '3');
      runs.three.push(await measure(server, command, root, work, CLAUDE, 3));
    }
    const row = (what: string, unit: Row['unit'], of: (run: Measured) => number, atMost: number) => {
      const [product, floor] = [medianOf(runs.three, of), medianOf(runs.one, of)];
      const aim = { figure: product / floor, atMost, as: '× one' };
      return { ...plain(`3 attempts of 9 turns, ${what} (floor: one)`, unit, product), floor, aim };
    };
    return [
      row('the bill', 'USD', (run) => run.usd, 3),
      row('from start to end', 'ms', (run) => run.wallMs, 4),
      row('CPU', 'ms', (run) => run.cpuMs, 4),
    ];
  },

  /** What a review that finds nothing costs, in place of the floor the same run without it. */
  async review({ programs, server, repository }) {
    const root = repository(SMALL);
    const work = workOf(9, ['read', 'edit', 'command']);
    const runWith = (turns: typeof work, ...flags: string[]) => {
      restore(root);
      return measure(server, withFlags(programs, ...flags), root, turns);
    };
    const reviewed = await runWith([...work, NOTHING_FOUND], '--review');
    const without = await runWith(work);
    const row = (what: string, unit: Row['unit'], of: (run: Measured) => number): Row => ({
      ...plain(`9 turns with --review, ${what} (floor: without)`, unit, of(reviewed)),
      floor: of(without),
    });
    return [
      row('the bill', 'USD', ({ usd }) => usd),
      row('requests', 'requests', ({ turnMs }) => turnMs.length + 1),
    ];
  },

  /** What one MCP server in the sandbox adds to the start, in place of the floor the start without it. */
  async mcp({ programs, server, rounds, repository }) {
    const root = repository(SMALL);
    const work = workOf(2, ['read']);
    const program = fileURLToPath(
      import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
    );
    const withServer = withFlags(programs, '--mcp', `files=${process.execPath} ${program} ${root}`);
    const runs = { with: [] as Measured[], without: [] as Measured[] };
    for (let round = 0; round < Math.max(3, Math.round(rounds * 0.4)); round += 1) {
      restore(root);
      runs.without.push(await measure(server, programs.clients.product, root, work));
      restore(root);
      runs.with.push(await measure(server, withServer, root, work));
    }
    const row = (what: string, of: (run: Measured) => number): Row => ({
      ...plain(`${what} with one MCP server over stdio (floor: without)`, 'ms', medianOf(runs.with, of)),
      floor: medianOf(runs.without, of),
    });
    return [
      row('start to first request', (run) => run.startMs),
      row('last answer to exit', (run) => run.exitMs),
    ];
  },

  /** A listing of a large tree stays in the conversation, and is paid for in every turn after it. */
  async listing(bench) {
    const work: typeof LOOKS = [
      { calls: [{ name: 'list_files', input: { path: '.' } }] },
      ...workOf(8, ['read']),
    ];
    const runs = await interleaved(bench, 50_000, work, 0.2, ['product', 'floor']);
    const row = rowMaker(runs)(
      'bill of 9 turns after a list_files of 50,000 files',
      'USD',
      (run) => run.usd,
      0.3,
    );
    return [{ ...row, bundled: null }];
  },

  async parallel(bench) {
    const runs = await interleaved(bench, SMALL, parallelCommands(6), 0.6);
    const row = rowMaker(runs)('a turn with 8 commands of 0.2 s', 'ms', (run) => median(run.turnMs));
    return [atMostOf(row, 235)];
  },

  async looks(bench) {
    const kinds = ['list', 'search'] as const;
    const runs = await interleaved(bench, SMALL, workOf(13, kinds));
    const row = rowMaker(runs);
    const of = (kind: TurnKind) => (run: Measured) =>
      median(run.turnMs.filter((_, at) => kindsOf(13, kinds)[at] === kind));
    return [
      atMostOf(row('a turn with one list_files on 60 files', 'ms', of('list')), 15),
      atMostOf(row('a turn with one search on 60 files', 'ms', of('search')), 15),
    ];
  },

  async output(bench) {
    const runs = await interleaved(bench, SMALL, largeOutput(), 0.6);
    const short = await interleaved(bench, SMALL, workOf(2, ['command']), 0.6, ['product']);
    const more = medianOf(runs.product, rss) - medianOf(short.product, rss);
    return [
      rowMaker(runs)('a command with 50 MB of output', 'ms', (run) => run.turnMs[0] ?? 0, 1.2),
      {
        ...plain('peak RSS on top of a command without output', 'MB', more),
        aim: { figure: more, atMost: 10, as: 'MB' },
      },
    ];
  },

  async files(bench) {
    const work = workOf(2, ['read']);
    const many = await interleaved(bench, 50_000, work, 0.6);
    const few = await interleaved(bench, SMALL, work, 0.6, ['product']);
    const row = rowMaker(many)('start on 50,000 files', 'ms', (run) => run.startMs);
    const onFew = medianOf(few.product, (run) => run.startMs);
    return [{ ...row, aim: { figure: row.product / onFew, atMost: 1.15, as: '× start on 60 files' } }];
  },

  async 'large-50000'(bench) {
    const row = rowMaker(await interleaved(bench, 50_000, LARGE_WORK, 0.4));
    return [
      atMostOf(
        row('8 turns on 50,000 files, from start to end', 'ms', (run) => run.wallMs),
        1_200,
      ),
      atMostOf(
        row('CPU of 8 turns on 50,000 files', 'ms', (run) => run.cpuMs),
        1_500,
      ),
      atMostOf(
        row('the first turn on 50,000 files, a command', 'ms', (run) => run.turnMs[0] ?? 0),
        300,
      ),
    ];
  },

  async 'large-200000'(bench) {
    const row = rowMaker(await interleaved(bench, 200_000, LARGE_WORK, 0.2));
    return [
      atMostOf(
        row('8 turns on 200,000 files, from start to end', 'ms', (run) => run.wallMs),
        3_000,
      ),
      row('CPU of 8 turns on 200,000 files', 'ms', (run) => run.cpuMs),
      atMostOf(row('peak RSS on 200,000 files', 'MB', rss), 250),
    ];
  },

  async faults(bench) {
    const runs = await interleaved(bench, SMALL, faults(), 0.2, ['product']);
    return FAULTS.map(([name], at) => {
      const cost = medianOf(runs.product, (run) => run.turnMs[2 * at] ?? 0);
      return {
        ...plain(`${name}, until the next try`, 'ms', cost),
        aim: { figure: cost, atMost: 1_000, as: 'ms' },
      };
    });
  },

  async fence({ programs, rounds, repository }) {
    const args = [programs.fence, repository(SMALL), String(rounds * 4)];
    const times: FenceTimes = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
    const floor = median(times.bareMs);
    const row = (what: string, product: number) => ({
      ...plain(`${what} (floor: bare \`bash -c\`)`, 'ms', product),
      floor,
      aim: { figure: product - floor, atMost: 10, as: 'ms added' },
    });
    return [row('a sandboxed `true`', median(times.sandboxedMs))];
  },

  /** 200 turns with 6 KB of results each, in place of the floor the same without compaction. */
  async bill({ programs, server, repository }) {
    const root = repository(SMALL);
    const turns = outputsOf(200, 6_000);
    const ranWith = (...flags: string[]) => {
      restore(root);
      return measure(server, withFlags(programs, ...flags), root, turns);
    };
    const { usd: none, billed } = await ranWith('--compaction', 'none');
    if (billed === null) throw new Error('The API kept no bill.');
    // Its cache never misses, so it writes every token once.
    const ideal = costOf(defaultProvider.defaultModel ?? '', { ...billed, cacheRead: 0 }, null) ?? Number.NaN;
    const rows: Row[] = [
      { ...plain('bill of 200 turns, without compaction', 'USD', none), floor: none },
      {
        ...plain('the least: each token written to the cache once and never read', 'USD', ideal),
        floor: none,
      },
    ];
    for (const flags of [
      ['--compaction', 'summarize'],
      ['--compaction', 'summarize', '--compact-at', '40000'],
      ['--compaction', 'server'],
      ['--compaction', 'none', '--max-messages', '50'],
    ]) {
      const { usd } = await ranWith(...flags);
      const aim = { figure: usd / none, atMost: 0.6, as: '× none' };
      const ofIdeal = `${(usd / ideal).toFixed(1)} × the least`;
      rows.push({ ...plain(`the same, ${flags.join(' ')} (${ofIdeal})`, 'USD', usd), floor: none, aim });
    }
    return rows;
  },

  async verify(bench) {
    return [...(await verification(bench, SMALL, 100)), ...(await verification(bench, 5_000, 600))];
  },

  'snapshot-5000': (bench) => snapshot(bench, 5_000),
  'snapshot-50000': (bench) => snapshot(bench, 50_000),
  'snapshot-200000': (bench) => snapshot(bench, 200_000),
};

/** What a quick look leaves out: large trees and long scripts. */
export const SLOW: ReadonlySet<string> = new Set([
  'attempts',
  'bill',
  'long',
  'files',
  'listing',
  'large-50000',
  'large-200000',
  'snapshot-50000',
  'snapshot-200000',
]);

/** What a fresh checkout of so many files costs a run with one verify command; `atMost` is the aim, in ms. */
async function verification(
  { programs, server, rounds, repository }: Bench,
  files: number,
  atMost: number,
): Promise<Row[]> {
  const root = repository(files);
  const exits = { worktree: [] as number[], checkout: [] as number[] };
  for (let round = 0; round < Math.max(3, Math.round(rounds * 0.6)); round += 1) {
    for (const kind of ['worktree', 'checkout'] as const) {
      restore(root);
      const ran = await measure(server, verifying(programs, kind), root, workOf(2, ['edit']));
      exits[kind].push(ran.exitMs);
    }
  }
  const [product, floor] = [median(exits.checkout), median(exits.worktree)];
  const what = `\`test -e\` verified in a checkout of ${files.toLocaleString('en-US')} files, to exit (floor: in the work tree)`;
  return [{ ...plain(what, 'ms', product), floor, aim: { figure: product - floor, atMost, as: 'ms added' } }];
}

/** A command line of the product that ends with the flag for the task. */
function verifying(programs: Programs, kind: 'worktree' | 'checkout'): string[] {
  return withFlags(programs, '--verify', `test -e ${EDITED}`, '--verify-in', kind);
}

function withFlags({ clients }: Programs, ...more: readonly string[]): string[] {
  const [flags, task] = [clients.product.slice(0, -1), clients.product.slice(-1)];
  return [...flags, ...more, ...task];
}

async function snapshot(bench: Bench, files: number): Promise<Row[]> {
  const root = bench.repository(files);
  restore(root);
  const args = [bench.programs.snapshot, root, EDITED, String(bench.rounds)];
  const times: SnapshotTimes = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  const [product, floor] = [median(times.snapshotMs), median(times.statusMs)];
  return [
    {
      ...plain(`snapshot of ${files.toLocaleString('en-US')} files (floor: git status)`, 'ms', product),
      floor,
      aim: { figure: product / floor, atMost: 1, as: '× git status' },
    },
  ];
}

/** Runs the clients in turns, so that what the machine does meanwhile falls on all of them alike. */
async function interleaved(
  { programs, server, rounds, repository }: Bench,
  files: number,
  turns: Parameters<typeof measure>[3],
  share = 1,
  clients: readonly ClientName[] = CLIENTS,
): Promise<Runs> {
  const root = repository(files);
  const runs: Record<ClientName, Measured[]> = { product: [], floor: [], bundled: [] };
  const times = Math.max(3, Math.round(rounds * share));
  for (let round = 0; round < times; round += 1) {
    for (const client of clients) {
      restore(root);
      runs[client].push(await measure(server, programs.clients[client], root, turns));
    }
  }
  return runs;
}

/** Makes rows of medians; `atMost` is the aim for the ratio to the unbundled floor. */
function rowMaker(runs: Runs) {
  return (what: string, unit: Row['unit'], of: (run: Measured) => number, atMost?: number): Row => {
    const [product, floor, bundled] = CLIENTS.map((client) => medianOf(runs[client], of));
    const row = { ...plain(what, unit, product ?? 0), floor: floor ?? null, bundled: bundled ?? null };
    if (atMost === undefined || !floor) return row;
    return { ...row, aim: { figure: row.product / floor, atMost, as: '× floor' } };
  };
}

/** A row whose aim is about the product alone. */
function atMostOf(row: Row, atMost: number): Row {
  return { ...row, aim: { figure: row.product, atMost, as: row.unit } };
}

function plain(what: string, unit: Row['unit'], product: number): Row {
  return { what, unit, product, floor: null, bundled: null, aim: null };
}

function rss(run: Measured): number {
  return run.peakRss / MEGABYTE;
}

function medianOf(runs: readonly Measured[], of: (run: Measured) => number): number {
  return median(runs.map(of));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
