import { spawn } from 'node:child_process';

const IDENTITY = ['AUTHOR', 'COMMITTER'].flatMap((role) => [
  [`GIT_${role}_NAME`, 'Wren'],
  [`GIT_${role}_EMAIL`, 'wren@example.org'],
]);

/** Runs a stock git client without blocking this process, which serves it. */
export function client(cwd: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const env = {
    PATH: process.env['PATH'],
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...Object.fromEntries(IDENTITY),
  };
  return new Promise((resolve) => {
    const child = spawn('git', args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('close', (code) => resolve({ code, output }));
  });
}
