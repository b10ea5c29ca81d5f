// A program that answers for a model: it hands its one line, with its key, to a socket, and writes what comes back.
import { connect } from 'node:net';

const socket = connect(Number(process.argv[2]), '127.0.0.1');
socket.write(`${process.env.RELAY_KEY}\n`);
process.stdin.pipe(socket, { end: false });
socket.pipe(process.stdout);
socket.on('error', () => process.exit(1));
// Everything before has been written once this has.
socket.on('end', () => process.stdout.write('', () => process.exit(0)));
