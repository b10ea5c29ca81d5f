/** A whole run on a machine whose private network has a registry. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { makeRepository, temporaryFolder } from '../../support/files/repository.ts';
import { resultOf } from '../../support/published.ts';
import { CLI } from '../../support/runs/cli.ts';
import { PATIENCE_MS } from '../../support/waiting/patience.ts';

/** Makes a network of two machines, the other of which answers at one port, and becomes the command line that follows. */
const NETWORK = `
  set -e
  folder=$1; shift
  printf '127.0.0.1 localhost\\n10.77.0.2 registry.corp\\n' > "$folder/hosts"
  mount --bind "$folder/hosts" /etc/hosts
  ip link set lo up
  unshare --net node -e '
    const server = require("http").createServer(({ url }, answer) => answer.end("registry " + url + "\\n"));
    const listen = () => server.listen(4873, "10.77.0.2");
    server.on("error", () => setTimeout(listen, 20));
    listen();' &
  there=$!
  until [ "$(readlink /proc/$there/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do :; done
  ip link add v0 type veth peer name v1 netns $there
  ip addr add 10.77.0.1/24 dev v0
  ip link set v0 up
  nsenter --target $there --net sh -c 'ip link set lo up; ip addr add 10.77.0.2/24 dev v1; ip link set v1 up'
  code=0
  "$@" || code=$?
  kill $there
  exit $code`;

const IN_NETWORK = ['--map-root-user', '--mount', '--net', 'bash', '-c', NETWORK, 'bash'];

test('--allow-private opens a host of the private network at its port, for setup and the model, and nothing else there', async (context) => {
  const folder = temporaryFolder();
  const tried = await execa('unshare', [...IN_NETWORK, folder, 'true'], { reject: false, timeout: 10_000 });
  context.skip(tried.exitCode !== 0, `no network can be made on this machine: ${tried.stderr}`);
  const { root } = await makeRepository({ 'a.txt': 'a\n', '.gitignore': 'loaded\n' });
  const asked = ['registry.corp:4873/tiny', 'registry.corp:4874/', '10.77.0.2:4873/', '10.77.0.1:4873/'];
  const command = asked.map((place) => `curl -sS http://${place}`).join('; ');
  const turns = [
    { calls: [{ name: 'run_command', input: { command } }] },
    { calls: [{ name: 'finish', input: { status: 'done', summary: 'Asked.' } }] },
  ];
  const script = join(folder, 'script.jsonl');
  writeFileSync(script, turns.map((turn) => `${JSON.stringify(turn)}\n`).join(''));
  const runDir = join(folder, 'run');
  const args = [
    ...['run', '--repo', root, '--run-dir', runDir, '--message', 'Ask'],
    ...['--provider', 'replay', '--recording', script],
    ...['--allow-private', 'registry.corp:4873'],
    ...['--setup', 'curl -sSf http://registry.corp:4873/setup > loaded'],
  ];
  const { exitCode, stderr } = await execa(
    'unshare',
    [...IN_NETWORK, folder, process.execPath, CLI, ...args],
    {
      env: { PATH: process.env.PATH, HOME: folder, XDG_STATE_HOME: folder },
      extendEnv: false,
      reject: false,
      timeout: PATIENCE_MS,
    },
  );
  expect(exitCode, stderr).toBe(0);
  expect(readFileSync(join(root, 'loaded'), 'utf8')).toBe('registry /setup\n');
  const events = readFileSync(join(runDir, 'events.jsonl'), 'utf8');
  expect(events).toContain('registry /tiny\\n');
  expect(events).not.toContain('registry /\\n');
  const { network } = resultOf(runDir);
  expect(network?.allowed).toEqual(['registry.corp:4873']);
  const refused = network?.hosts.filter(({ outcome }) => outcome === 'refused')?.map(({ host }) => host);
  expect(refused).toEqual(['registry.corp:4874', '10.77.0.2:4873', '10.77.0.1:4873']);
});
