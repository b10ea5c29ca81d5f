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
