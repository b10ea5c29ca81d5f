/** The small process of `elsewhere.ts`: starts programs for a big one, and tells how they ended. */

import { spawn } from 'node:child_process';

process.on('message', ({ id, question: { program, args, cwd, env, input } }) => {
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: [input?.length > 0 ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const stdout = [];
  const stderr = [];
  child.stdout.on('data', (piece) => stdout.push(piece));
  child.stderr.on('data', (piece) => stderr.push(piece));
  // A program may end before it has read everything.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const said = (end) =>
    process.connected &&
    process.send({
      id,
      answer: { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8'), ...end },
    });
  child.once('error', (error) => said({ exitCode: null, stderr: String(error) }));
  child.once('close', (exitCode) => said({ exitCode }));
});
process.once('disconnect', () => process.exit());
