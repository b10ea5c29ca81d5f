/**
 * Device nodes that commands cannot change. bubblewrap mounts those of the machine writable, and cannot do otherwise: what it
 * makes read-only is no longer a device. Root, as their owner, could change their modes for the whole machine. So where they
 * belong to our user, bubblewrap starts in a namespace in which `/dev` is read-only, which its own mounts inherit.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { getuid, pid } from 'node:process';
import { readText, statOf } from '../host-files.ts';
import { findProgram } from './shell.ts';

/** How to start a program with such devices. */
export interface SteadyDevices {
  /** The command line to add before the program's own; empty where the devices belong to others. */
  readonly before: readonly string[];
  /** The path of the null device, as a descriptor that commands inherit has to be opened by. */
  readonly nullDevice: string;
  /** No program can be started with them after that. */
  close(): void;
}

/** The devices, or why there are none. */
export type SteadyDevicesResult =
  | { status: 'ok'; devices: SteadyDevices }
  | { status: 'unavailable'; reason: string }
  /** The machine did not permit the namespaces; `failure` is what it said. */
  | { status: 'failed'; failure: string };

/** Those that bubblewrap shows. */
const NODES = ['full', 'null', 'random', 'tty', 'urandom', 'zero'];

/** Creates the namespaces; they exist until they are closed or this process ends. */
export async function steadyDevices(): Promise<SteadyDevicesResult> {
  if (!NODES.some((name) => statOf(`/dev/${name}`)?.uid === getuid?.()))
    return { status: 'ok', devices: { before: [], nullDevice: '/dev/null', close: () => undefined } };
  const [unshare, nsenter, mount] = ['unshare', 'nsenter', 'mount'].map((name) =>
    findProgram(name, ['/sbin', '/usr/sbin']),
  );
  if (!unshare || !nsenter || !mount)
    return {
      status: 'unavailable',
      reason:
        'As the owner of the device nodes in /dev, commands could change them. Run as a user without privileges, or install util-linux (unshare, nsenter, mount).',
    };
  const steps = ['--rbind /dev /dev', ...places().map((place) => `-o remount,bind,ro ${place}`)];
  const script = [...steps.map((step) => `${mount} ${step}`), 'echo', 'read -r end'].join(' && ');
  const holder = spawn(unshare, ['-U', '-r', '-m', '--propagation', 'private', '/bin/sh', '-c', script], {
    stdio: 'pipe',
    env: {},
  });
  let said = '';
  holder.stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString('utf8');
  });
  const failed = once(holder, 'close').then(() => false);
  const isReady = await Promise.race([once(holder.stdout, 'data').then(() => true), failed]).catch(
    () => false,
  );
  if (!isReady) return { status: 'failed', failure: said.trim().split('\n')[0] ?? '' };
  const held = ['ns/user', 'ns/mnt', 'root/dev/null'].map((path) =>
    openSync(`/proc/${holder.pid}/${path}`, 'r'),
  );
  holder.stdin.end();
  const [user, mounts, nothing] = held;
  const before = [
    ...[nsenter, '--preserve-credentials'],
    ...[`--user=/proc/${pid}/fd/${user}`, `--mount=/proc/${pid}/fd/${mounts}`, '--'],
  ];
  const close = () => {
    for (const one of held.splice(0)) closeSync(one);
  };
  return { status: 'ok', devices: { before, nullDevice: `/proc/self/fd/${nothing}`, close } };
}

/** In some containers, nodes are mounts of their own, which the one of `/dev` has no say in. */
function places(): string[] {
  const mounted = (readText('/proc/self/mountinfo') ?? '').split('\n').map((line) => line.split(' ')[4]);
  return ['/dev', ...NODES.map((name) => `/dev/${name}`).filter((path) => mounted.includes(path))];
}
