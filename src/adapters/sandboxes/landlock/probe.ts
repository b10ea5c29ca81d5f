/** Has a sandbox by Landlock proven by one command that tries what it must not be able to do. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { dirname } from 'node:path';
import { pid } from 'node:process';
import { shellWord } from '../../../domain/shell-word.ts';
import type { Sandbox } from '../../../ports.ts';
import { PROXY_PORT } from '../bubblewrap/listeners.ts';
import { failureOf, forProbe } from '../bubblewrap/probe.ts';
import { type LaunchedSetup, launchedSandbox } from '../launched.ts';

/** The sandbox if every assertion held, or what went wrong. */
export async function proveLandlock(
  setup: LaunchedSetup,
): Promise<{ status: 'ok'; sandbox: Sandbox } | { status: 'failed'; failure: string }> {
  const { files, network } = setup;
  const outsider = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
  await once(outsider, 'listening');
  const { port } = outsider.address() as AddressInfo;
  const sandbox = launchedSandbox(forProbe(setup));
  const filters = Number(/^Seccomp_filters:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
  const connects = (to: number) => `$BASH_PROGRAM -c ': < /dev/tcp/127.0.0.1/${to}' 2> /dev/null`;
  const script = `
    fail() { echo "$1"; exit 1; }
    BASH_PROGRAM=${shellWord(setup.shell)}
    if kill -0 ${pid} 2> /dev/null; then fail 'processes outside can be signalled'; fi
    if (: < /proc/${pid}/environ) 2> /dev/null; then fail 'the runner can be read'; fi
    if (: < /proc/$PPID/environ) 2> /dev/null; then fail 'the launcher can be read'; fi
    if sh -c '(: < "/proc/$1/environ") 2> /dev/null' sh $$; then fail 'the shell of a command can be traced'; fi
    if (: > ${shellWord(`${dirname(files)}/.patchsmith-probe`)}) 2> /dev/null; then fail 'files outside the work tree can be written'; fi
    if (: < ${shellWord(files)}) 2> /dev/null; then fail 'the run directory can be read'; fi
    filtered=; unprivileged=
    while read -r name value; do
      case "$name" in Seccomp_filters:) filtered=$value ;; NoNewPrivs:) unprivileged=$value ;; esac
    done < /proc/self/status
    [ "$filtered$unprivileged" = ${filters + 2}1 ] || fail 'the system call filter is missing'
    case "$BASH_PROGRAM" in
      *bash)
        read -r scope 2> /dev/null < /proc/sys/kernel/yama/ptrace_scope && [ "$scope" -gt 1 ] && fail "kernel.yama.ptrace_scope is $scope, and more than 1 keeps the broker from its work"
        if ${connects(port)}; then fail 'services of the machine can be reached'; fi
        ${network === null ? '' : `${connects(PROXY_PORT)} || fail 'the proxy cannot be reached'`}
        ;;
    esac
    (: > "$TMPDIR/probe") || fail 'nothing can be written'
    echo contained`;
  const failure = await failureOf(sandbox, script);
  outsider.close();
  return failure === null ? { status: 'ok', sandbox: launchedSandbox(setup) } : { status: 'failed', failure };
}
