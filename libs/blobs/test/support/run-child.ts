import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const HOOK = join(__dirname, '../../../../tools/jest/typescript-hook.cjs');
const CHILD = join(__dirname, 'child.ts');

/** The answer of a child process (child.ts). */
export async function answerOf<T>(command: string, url: string): Promise<T> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--require', HOOK, CHILD, command, url]);
  return JSON.parse(stdout) as T;
}

export function startChild(command: string, url: string): ChildProcess {
  return spawn(process.execPath, ['--require', HOOK, CHILD, command, url], { stdio: 'ignore' });
}
