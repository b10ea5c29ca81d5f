/**
 * The programs of the relay, which runs inside the sandbox: perl, which starts in a few milliseconds and is on nearly every
 * machine, and node, which is on every one.
 */

import { LOOKED_UP } from '../../../domain/review/egress.ts';

/** Where the resolvers of programs ask, on loopback. */
export const NAMES_PORT = 53;

/**
 * Forwards a port on loopback to the UNIX socket. The program ends when its copy in the background listens. One process for
 * all connections, since processes of a command are limited.
 */
export function perlRelay(socket: string, port: number): string {
  return `# Without modules, which would take longer than all the rest: the numbers are those of Linux.
my ($UNIX, $INET, $STREAM, $F_SETFL, $O_NONBLOCK) = (1, 2, 1, 4, 04000);
socket(my $server, $INET, $STREAM, 0) or exit 1;
bind($server, pack('S n C4 x8', $INET, ${port}, 127, 0, 0, 1)) or exit 1;
listen($server, 4096) or exit 1;
# A machine that does not let it listen there has no use of it in resolv.conf either.
my $names;
(socket($names, $INET, 2, 0) && bind($names, pack('S n C4 x8', $INET, ${NAMES_PORT}, 127, 0, 0, 1))) or undef $names;
my $child = fork;
exit(defined $child ? 0 : 1) if !defined $child || $child;
setpgrp(0, 0);
$SIG{PIPE} = 'IGNORE';
# EINTR and EAGAIN.
my %again = (4 => 1, 11 => 1);
# By descriptor: the handle, its other side's descriptor, what is to be written, whether it ended, whether the other side knows.
my %of;
sub add { my ($h, $peer) = @_; fcntl($h, $F_SETFL, $O_NONBLOCK); $of{fileno $h} = { h => $h, peer => $peer, out => '', eof => 0, shut => 0 } }
# What was asked is known to the proxy before the program has its answer, so that it is known before the command ends.
my %asked;
sub refuse {
  my $from = recv($names, my $query, 4096, 0);
  return if !defined $from || length $query < 17;
  my ($at, @labels) = (12);
  while ((my $length = ord substr($query, $at, 1)) && $at < length $query) {
    return if $length > 63;
    push @labels, substr($query, $at + 1, $length);
    $at += $length + 1;
  }
  my $name = lc join '.', @labels;
  if ($name =~ /^[a-z0-9.-]{1,253}$/ && !$asked{$name}++ && socket(my $proxy, $UNIX, $STREAM, 0)) {
    if (connect($proxy, pack('S Z108', $UNIX, '${socket}'))) {
      syswrite $proxy, "GET ${LOOKED_UP}$name HTTP/1.1\\r\\nHost: sandbox\\r\\nConnection: close\\r\\n\\r\\n";
      sysread $proxy, my $answer, 1;
    }
  }
  # No such name, which is final.
  send $names, substr($query, 0, 2) . pack('C2 n4', 0x80 | ord(substr $query, 2, 1) & 0x79, 0x83, 1, 0, 0, 0) . substr($query, 12, $at - 7), 0, $from;
}
while (1) {
  my ($read, $write) = ('', '');
  vec($read, fileno $server, 1) = 1;
  vec($read, fileno $names, 1) = 1 if $names;
  for my $n (keys %of) {
    vec($read, $n, 1) = 1 if !$of{$n}{eof} && length $of{$of{$n}{peer}}{out} < 65536;
    vec($write, $n, 1) = 1 if length $of{$n}{out};
  }
  next if select($read, $write, undef, undef) < 0;
  refuse() if $names && vec($read, fileno $names, 1);
  for my $n (keys %of) {
    my $one = $of{$n} or next;
    my $other = $of{$one->{peer}};
    if (vec($read, $n, 1)) {
      my $got = sysread $one->{h}, my $bytes, 65536;
      if ($got) { $other->{out} .= $bytes unless $other->{lost} }
      elsif (defined $got || !$again{$! + 0}) { $one->{eof} = 1 }
    }
    if (vec($write, $n, 1)) {
      my $put = syswrite $one->{h}, $one->{out};
      if (defined $put) { substr($one->{out}, 0, $put) = '' }
      # What the other side sends goes nowhere, and what this one has sent still arrives.
      elsif (!$again{$! + 0}) { $one->{out} = ''; $one->{lost} = 1; $other->{eof} = 1 }
    }
    for ([$one, $other], [$other, $one]) {
      my ($from, $to) = @$_;
      next if !$from->{eof} || $to->{shut} || length $to->{out};
      shutdown $to->{h}, 1;
      $to->{shut} = 1;
    }
    if ($one->{shut} && $other->{shut}) { delete @of{$n, $one->{peer}}; close $one->{h}; close $other->{h} }
  }
  if (vec($read, fileno $server, 1) && accept(my $inner, $server)) {
    socket(my $outer, $UNIX, $STREAM, 0) or next;
    connect($outer, pack('S Z108', $UNIX, '${socket}')) or next;
    add($inner, fileno $outer);
    add($outer, fileno $inner);
  }
}
`;
}

/** The same in node. It closes its output once it listens. */
export function nodeRelay(socket: string, port: number): string {
  return `'use strict';
const net = require('node:net');
const fs = require('node:fs');
const server = net.createServer({ allowHalfOpen: true }, (inner) => {
  const outer = net.connect({ path: ${JSON.stringify(socket)}, allowHalfOpen: true });
  for (const [from, to] of [[inner, outer], [outer, inner]]) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => to.destroySoon());
  }
});
const asked = new Set();
const names = require('node:dgram').createSocket('udp4').on('message', (query, { port, address }) => {
  const labels = [];
  let at = 12;
  for (; query[at] > 0 && query[at] < 64; at += query[at] + 1) labels.push(query.subarray(at + 1, at + 1 + query[at]).latin1Slice());
  const name = labels.join('.').toLowerCase();
  const question = query.subarray(12, at + 5);
  const head = Buffer.from([query[0], query[1], 0x80 | query[2] & 0x79, 0x83, 0, 1, 0, 0, 0, 0, 0, 0]);
  const answer = () => names.send(Buffer.concat([head, question]), port, address);
  if (query.length < 17 || query[at] !== 0) return;
  if (!/^[a-z0-9.-]{1,253}$/.test(name) || asked.has(name)) return answer();
  asked.add(name);
  net.connect({ path: ${JSON.stringify(socket)} }).on('error', answer).once('data', answer)
    .write('GET ${LOOKED_UP}' + name + ' HTTP/1.1\\r\\nHost: sandbox\\r\\nConnection: close\\r\\n\\r\\n');
});
const ready = () => server.listen(${port}, '127.0.0.1', () => {
  fs.writeSync(1, 'ready');
  fs.closeSync(1);
  // In its place, or the next connection would be descriptor 1, which node never closes without falling over.
  fs.openSync('/dev/null', 'w');
});
names.once('error', ready).bind(${NAMES_PORT}, '127.0.0.1', ready);
`;
}

/**
 * Opens a tunnel to the host and port in its arguments, for programs that do not support HTTP proxies but accept a command
 * instead: ssh and git. Refusals by the proxy are printed to stderr.
 */
export function tunnelScript(port: number): string {
  return `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/${port} || exit 1
printf 'CONNECT %s:%s HTTP/1.1\\r\\nHost: %s\\r\\n\\r\\n' "$1" "$2" "$1" >&3
IFS= read -r status <&3
case "$status" in
  *' 200 '*) while IFS= read -r line <&3 && [ "$line" != $'\\r' ]; do :; done ;;
  *) status=\${status#HTTP/1.1 }; echo "\${status%$'\\r'}" | cut -c 5- >&2; exit 1 ;;
esac
cat <&3 &
cat >&3
# The end of what is sent is not told: the other side says when it is done.
wait
`;
}
