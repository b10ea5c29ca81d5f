/**
 * A program for x86-64 whose main thread ends while another one holds memory and waits for ever. /proc shows such a process
 * as a zombie, with no memory and no command line. No interpreter of a fresh machine can do this, so it is assembled here.
 */

import { chmodSync, writeFileSync } from 'node:fs';
import { arch } from 'node:process';

/** Whether this machine can run it. */
export const RUNS_LEADERLESS = arch === 'x64';

/** `bytes` is what it touches of memory, in whole pages of 4096. `writes`: it writes to stdout a hundred times a second, for five minutes. */
export function writeLeaderlessProgram(path: string, bytes: number, { writes = false } = {}): void {
  const code = [
    'b8 09000000 31ff', // mov eax, mmap; xor edi, edi
    `be ${int32(bytes)} ba 03000000`, // mov esi, bytes; mov edx, PROT_READ | PROT_WRITE
    '41ba 22000000', // mov r10d, MAP_PRIVATE | MAP_ANONYMOUS
    '49c7c0 ffffffff 4531c9 0f05', // mov r8, -1; xor r9d, r9d; syscall
    `4889c3 b9 ${int32(bytes)}`, // mov rbx, rax; mov ecx, bytes
    '4881e9 00100000 c6040b01 75f3', // touch: sub rcx, 4096; mov byte [rbx + rcx], 1; jnz touch
    'b8 38000000 bf 000f0500', // mov eax, clone; mov edi, CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM
    '488db3 00100000', // lea rsi, [rbx + 4096]: the stack of the new thread
    '31d2 4531d2 4531c0 0f05', // xor edx, edx; xor r10d, r10d; xor r8d, r8d; syscall
    '85c0 7409', // test eax, eax; jz thread
    'b8 3c000000 31ff 0f05', // mov eax, exit; xor edi, edi; syscall: ends this thread alone
    ...(writes ? WRITING : ['b8 22000000 0f05 ebf7']), // thread: mov eax, pause; syscall; jmp thread
  ].map((hex) => Buffer.from(hex.replaceAll(' ', ''), 'hex'));
  writeFileSync(path, executable(Buffer.concat(code)));
  chmodSync(path, 0o755);
}

const WRITING = [
  '41bc 30750000', // thread: mov r12d, 30000
  'b8 01000000 bf 01000000 4889de ba 01000000 0f05', // again: write(1, rbx, 1)
  'b8 07000000 31ff 31f6 ba 0a000000 0f05', // poll(0, 0, 10)
  '41ffcc 75d7', // dec r12d; jnz again
  'b8 e7000000 31ff 0f05', // exit_group(0)
];

function int32(value: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes.toString('hex');
}

/** The smallest ELF file (elf.h: Elf64_Ehdr, one Elf64_Phdr) that the kernel executes. */
function executable(code: Buffer): Buffer {
  const ADDRESS = 0x400000n;
  const HEADERS = 64 + 56;
  const header = Buffer.alloc(HEADERS);
  header.write('7f454c46020101', 0, 'hex');
  header.writeUInt16LE(2, 16); // ET_EXEC
  header.writeUInt16LE(62, 18); // EM_X86_64
  header.writeUInt32LE(1, 20);
  header.writeBigUInt64LE(ADDRESS + BigInt(HEADERS), 24); // entry point
  header.writeBigUInt64LE(64n, 32); // the program header follows
  header.writeUInt16LE(64, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(1, 56);
  header.writeUInt32LE(1, 64); // PT_LOAD
  header.writeUInt32LE(5, 68); // readable and executable
  header.writeBigUInt64LE(ADDRESS, 80);
  header.writeBigUInt64LE(ADDRESS, 88);
  header.writeBigUInt64LE(BigInt(HEADERS + code.length), 96);
  header.writeBigUInt64LE(BigInt(HEADERS + code.length), 104);
  header.writeBigUInt64LE(4096n, 112);
  return Buffer.concat([header, code]);
}
