/** Runs a seccomp program as the kernel would: classic BPF over one system call. */

export interface Call {
  /** AUDIT_ARCH of the caller. */
  readonly arch: number;
  readonly number: number;
  readonly args?: readonly bigint[];
}

export type Verdict = 'allow' | 'kill the process' | { errno: number };

/** Fails for an instruction that the kernel would refuse to load: an unknown one, or a jump past the end. */
export function verdictOf(program: Uint8Array, { arch, number, args = [] }: Call): Verdict {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch, true);
  for (const [index, arg] of args.entries()) data.setBigUint64(16 + index * 8, arg, true);
  const code = new DataView(program.buffer, program.byteOffset, program.byteLength);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const value = code.getUint32(at * 8 + 4, true);
    const jump = (holds: boolean) => {
      at += code.getUint8(at * 8 + (holds ? 2 : 3));
    };
    switch (code.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(value, true);
        break;
      case 0x15:
        jump(accumulator === value);
        break;
      case 0x35:
        jump(accumulator >= value);
        break;
      case 0x45:
        jump((accumulator & value) !== 0);
        break;
      case 0x06:
        return meaningOf(value);
      default:
        throw new Error(`Instruction ${at} is none of the few that a filter of ours needs.`);
    }
  }
  throw new Error('The program runs past its end.');
}

function meaningOf(value: number): Verdict {
  if (value === 0x7fff0000) return 'allow';
  if (value === 0x80000000) return 'kill the process';
  if (value >>> 16 === 5) return { errno: value & 0xffff };
  throw new Error(`0x${value.toString(16)} is no answer.`);
}

/** What the filter does about one system call, in words. */
export interface Rule {
  readonly call: string;
  readonly does: string;
}

/**
 * Reads a program instruction by instruction, without running it: a check of the processor, then for each call a comparison
 * with its number and the instructions that a match leads to. Fails for any other shape, so that nothing in it is passed over.
 */
export function disassembled(program: Uint8Array, nameOf: (number: number) => string): Rule[] {
  const code = instructionsOf(program);
  const rules: Rule[] = [];
  let at = 0;
  const take = (): Instruction => {
    const next = code[at++];
    if (next === undefined) throw new Error('The program ends too early.');
    return next;
  };
  expectSame(take(), { op: 'load', value: 4, yes: 0, no: 0 });
  const processor = take();
  if (processor.op !== 'equal' || processor.yes !== 1 || processor.no !== 0)
    throw new Error('No processor is checked.');
  expectSame(take(), { op: 'return', value: 0x80000000, yes: 0, no: 0 });
  expectSame(take(), { op: 'load', value: 0, yes: 0, no: 0 });
  for (;;) {
    const next = take();
    if (next.op === 'return') {
      if (meaningOf(next.value) !== 'allow' || at !== code.length)
        throw new Error('The program goes on after its end.');
      return rules;
    }
    if (next.yes !== 0) throw new Error(`Instruction ${at - 1} is no comparison of a call.`);
    const body = code.slice(at, at + next.no);
    at += next.no;
    const isX32 = next.op === 'at least' && next.value === 0x40000000;
    if (!isX32 && next.op !== 'equal') throw new Error(`Instruction ${at} compares no number.`);
    rules.push({
      call: isX32 ? 'any by its x32 number' : nameOf(next.value),
      does: body.map(wordsOf).join('; '),
    });
  }
}

interface Instruction {
  readonly op: 'load' | 'equal' | 'at least' | 'any bit' | 'return';
  readonly value: number;
  readonly yes: number;
  readonly no: number;
}

const OPERATIONS: Readonly<Record<number, Instruction['op']>> = {
  32: 'load',
  21: 'equal',
  53: 'at least',
  69: 'any bit',
  6: 'return',
};

function instructionsOf(program: Uint8Array): Instruction[] {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  return Array.from({ length: program.length / 8 }, (_, index) => {
    const op = OPERATIONS[view.getUint16(index * 8, true)];
    if (op === undefined) throw new Error(`Instruction ${index} is unknown.`);
    const [yes, no] = [view.getUint8(index * 8 + 2), view.getUint8(index * 8 + 3)];
    return { op, value: view.getUint32(index * 8 + 4, true), yes, no };
  });
}

function wordsOf({ op, value, yes, no }: Instruction): string {
  switch (op) {
    case 'load':
      return `argument ${(value - 16) / 8}`;
    case 'return': {
      const meaning = meaningOf(value);
      return typeof meaning === 'string' ? meaning : `error ${meaning.errno}`;
    }
    default:
      return `if ${op} 0${value.toString(8)} skip ${yes}, else ${no}`;
  }
}

function expectSame(found: Instruction, wanted: Instruction): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${JSON.stringify(found)} where ${JSON.stringify(wanted)} should be.`);
  }
}
