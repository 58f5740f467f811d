import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ReadyMessage, RenewalRequest, RestingMessage } from '../../src';

export const goodEnv = {
  PORT: '0',
  HOST: '127.0.0.1',
  MANAGEMENT_PORT: '0',
  SHUTDOWN_DELAY_MS: '0',
  ROOKERY_INTERNAL_KEYS: `k1/admin/identity:${Buffer.alloc(32, 1).toString('base64')}`,
  ROOKERY_CONTEXT_KEYS: `k1/admin:${Buffer.alloc(32, 1).toString('base64')}`,
};

/** A child process that boots `tiny.process.ts` or another program, with what it printed and how it ended. */
export class StartedProcess {
  readonly child: ChildProcess;
  output = '';
  errors = '';
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
  readonly ready: Promise<ReadyMessage>;

  constructor(args: readonly string[], env: Readonly<Record<string, string>> = goodEnv, program = 'tiny.process.ts') {
    const file = join(__dirname, program);
    this.child = spawn(
      process.execPath,
      ['-r', join(__dirname, '../../../../tools/jest/typescript-hook.cjs'), file, ...args],
      {
        env: { PATH: process.env['PATH'], ...env },
        stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      },
    );
    this.child.stdout?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.child.stderr?.on('data', (data: Buffer) => (this.errors += data.toString()));
    // The `close` event of a child does not come after `disconnect`.
    const streams = [this.child.stdout, this.child.stderr].map((stream) => once(stream as Readable, 'close'));
    this.ended = once(this.child, 'exit').then(async ([code, signal]) => {
      await Promise.all(streams);
      return { code: code as number | null, signal: signal as string | null };
    });
    this.ready = new Promise((resolve, reject) => {
      this.child.once('message', (message) => resolve(message as ReadyMessage));
      void this.ended.then((end) =>
        reject(new Error(`ended before ready: ${JSON.stringify(end)}\n${this.output}${this.errors}`)),
      );
    });
    this.ready.catch(() => undefined);
  }

  /** The log lines so far, parsed. */
  lines(text = this.output): Record<string, unknown>[] {
    return text
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** Sends a request as its parent and returns the reply. */
  async request(type: RenewalRequest['type']): Promise<RestingMessage | ReadyMessage> {
    const answer = once(this.child, 'message');
    this.child.send({ type });
    return ((await answer) as [RestingMessage | ReadyMessage])[0];
  }

  async management(path: string): Promise<{ status: number; text: string }> {
    const { managementPort } = await this.ready;
    const answer = await fetch(`http://127.0.0.1:${managementPort}${path}`);
    return { status: answer.status, text: await answer.text() };
  }

  async api(path: string): Promise<{ status: number; text: string; connection: string | null }> {
    const { port } = await this.ready;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, text: await answer.text(), connection: answer.headers.get('connection') };
  }

  /** Waits until its output matches. */
  async says(pattern: RegExp): Promise<void> {
    const until = Date.now() + 60_000;
    while (!pattern.test(this.output + this.errors)) {
      if (Date.now() > until) throw new Error(`never said ${pattern}:\n${this.output}${this.errors}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
}
