/**
 * A small process that does for a big one what starts programs. To start a program Linux copies the tables of all memory that
 * the starting process holds, which takes the processor longer in a big test process than most of git's commands.
 */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

interface Waiting {
  answered(answer: unknown): void;
  failed(error: Error): void;
}

/**
 * Asks a module in a process of its own, which starts with the first question and ends with this process. It takes messages of
 * `id` and `question`, also before it has answered others, and answers each with `id` and either `answer` or `error`.
 */
export function smallProcess<Question, Answer>(
  module: URL,
  env: Readonly<Record<string, string>> = {},
): (question: Question) => Promise<Answer> {
  let child: ChildProcess | undefined;
  let asked = 0;
  const waiting = new Map<number, Waiting>();

  /** It keeps this process from ending only while something is asked of it. */
  const started = () => {
    const process = fork(module, [], {
      execArgv: [],
      serialization: 'advanced',
      env: { ...globalThis.process.env, ...env },
    });
    process.on('message', (said) => {
      const { id, answer, error } = said as { id: number; answer?: unknown; error?: Error };
      if (error === undefined) waiting.get(id)?.answered(answer);
      else waiting.get(id)?.failed(error);
      waiting.delete(id);
      if (waiting.size === 0) process.channel?.unref();
    });
    once(process, 'exit').then(() => {
      child = undefined;
      for (const { failed } of waiting.values()) failed(new Error(`The process of ${module} has ended`));
      waiting.clear();
    });
    process.unref();
    process.channel?.unref();
    return process;
  };

  return (question) => {
    child ??= started();
    asked += 1;
    const id = asked;
    const answer = new Promise<Answer>((resolve, failed) =>
      waiting.set(id, { answered: (value) => resolve(value as Answer), failed }),
    );
    child.channel?.ref();
    child.send({ id, question });
    return answer;
  };
}
