/**
 * The programs of the relay, which runs inside the sandbox: perl, which starts in a few milliseconds and is on nearly every
 * machine, and node, which is on every one.
 */

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
my $child = fork;
exit(defined $child ? 0 : 1) if !defined $child || $child;
setpgrp(0, 0);
$SIG{PIPE} = 'IGNORE';
# EINTR and EAGAIN.
my %again = (4 => 1, 11 => 1);
# By descriptor: the handle, its other side's descriptor, what is to be written, whether it ended, whether the other side knows.
my %of;
sub add { my ($h, $peer) = @_; fcntl($h, $F_SETFL, $O_NONBLOCK); $of{fileno $h} = { h => $h, peer => $peer, out => '', eof => 0, shut => 0 } }
while (1) {
  my ($read, $write) = ('', '');
  vec($read, fileno $server, 1) = 1;
  for my $n (keys %of) {
    vec($read, $n, 1) = 1 if !$of{$n}{eof} && length $of{$of{$n}{peer}}{out} < 65536;
    vec($write, $n, 1) = 1 if length $of{$n}{out};
  }
  next if select($read, $write, undef, undef) < 0;
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
server.listen(${port}, '127.0.0.1', () => {
  fs.writeSync(1, 'ready');
  fs.closeSync(1);
  // In its place, or the next connection would be descriptor 1, which node never closes without falling over.
  fs.openSync('/dev/null', 'w');
});
`;
}

/**
 * Opens a tunnel to the host and port in its arguments, for programs that know no HTTP proxy but take a command in its place:
 * ssh and git. What the proxy refuses is said on stderr.
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
