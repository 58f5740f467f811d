import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { contextKeysFor } from '@rookery/platform';
import { testInternalKeys } from '@rookery/testing';
import { KEYS } from '../estate';
import type { ProcessFacts } from './questions';

const HOOK = join(__dirname, '../../../../../tools/jest/typescript-hook.cjs');

/** A gateway or a service in a process of its own, with the product's settings. */
export class StartedProcess {
  readonly ended: Promise<number | null>;
  port = 0;
  private readonly child: ChildProcess;
  private output = '';
  private asked = 0;

  constructor(name: 'gateway' | 'package', env: Readonly<Record<string, string>>) {
    const file = join(__dirname, name === 'gateway' ? 'gateway.process.ts' : 'service.process.ts');
    this.child = spawn(process.execPath, ['-r', HOOK, file], {
      env: {
        PATH: process.env['PATH'],
        PORT: '0',
        HOST: '127.0.0.1',
        MANAGEMENT_PORT: '0',
        SHUTDOWN_DELAY_MS: '0',
        ROOKERY_INTERNAL_KEYS: testInternalKeys(name),
        ROOKERY_CONTEXT_KEYS: name === 'gateway' ? KEYS : contextKeysFor(KEYS, name),
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.on('data', (data: Buffer) => (this.output += data.toString()));
    this.ended = once(this.child, 'exit').then(([code]) => code as number | null);
  }

  async ready(): Promise<this> {
    const isReady = once(this.child, 'message').then(([message]) => (this.port = (message as { port: number }).port));
    await Promise.race([isReady, this.ended.then(() => Promise.reject(new Error(this.output)))]);
    return this;
  }

  ask<T>(ask: string): Promise<T> {
    this.asked += 1;
    const id = this.asked;
    return new Promise((resolve) => {
      const hear = (message: { id?: number; answer?: T }): void => {
        if (message.id !== id) return;
        this.child.off('message', hear);
        resolve(message.answer as T);
      };
      this.child.on('message', hear);
      this.child.send({ ask, id });
    });
  }

  facts(): Promise<ProcessFacts> {
    return this.ask('facts');
  }

  /** Sends SIGTERM. */
  terminate(): void {
    this.child.kill('SIGTERM');
  }

  async stop(): Promise<void> {
    if (this.child.exitCode === null) this.child.kill('SIGKILL');
    await this.ended;
  }
}
