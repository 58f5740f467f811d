import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Address of one of the servers that `tools/jest/global-setup.cjs` started. */
export function testServerUrl(variable: 'TEST_POSTGRES_URL' | 'TEST_NATS_URL'): string {
  const url = process.env[variable];
  if (!url) throw new Error(`${variable} is not set: run this test with a jest.config.cjs of the repository`);
  return url;
}

/** The nats-server of the whole test run. Use stream and subject names of your own, or a private server (`startNats`). */
export function testNats(): Promise<{ readonly url: string }> {
  return Promise.resolve({ url: testServerUrl('TEST_NATS_URL') });
}

/**
 * Starts a nats-server for one spec file, with an empty JetStream store. It can be stopped and started again on the
 * same port and store, which simulates an outage of the bus. `drop()` ends it and deletes the store; it ends with jest
 * in any case. `configuration` is further text of a nats.conf: accounts, TLS.
 * Errors: a plain Error when the machine has no nats-server (only TEST_NATS_URL was given).
 */
export async function startNats(configuration = ''): Promise<PrivateNats> {
  const program = process.env['TEST_NATS_PROGRAM'];
  if (!program) throw new Error('There is no nats-server on this machine for a private server of a test');
  for (const end = Date.now() + START_MS; ;) {
    const store = mkdtempSync(join(tmpdir(), 'rookery-nats-'));
    writeFileSync(join(store, 'nats.conf'), configuration);
    // Another process may take the port before the server does; then another port is used.
    const server = new PrivateNats(program, store, await freePort());
    if (await server.begin()) return server;
    await server.drop();
    if (Date.now() > end) throw new Error(DID_NOT_START);
  }
}

/** Units: milliseconds. */
const START_MS = 50_000;
const DID_NOT_START = 'The private nats-server did not start';

export class PrivateNats {
  private child: ChildProcess | null = null;
  private readonly killServer = (): void => void this.child?.kill('SIGKILL');

  constructor(
    private readonly program: string,
    private readonly store: string,
    readonly port: number,
  ) {
    process.once('exit', this.killServer);
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Starts again on its port, which another process may use for a moment. */
  async start(): Promise<void> {
    for (const end = Date.now() + START_MS; !(await this.begin());) {
      if (Date.now() > end) throw new Error(DID_NOT_START);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** Tries once to start. Returns false when the server ended. */
  async begin(): Promise<boolean> {
    const name = `test-${randomUUID()}`;
    const at = ['-a', '127.0.0.1', '-p', String(this.port), '-n', name];
    const kept = ['-js', '-sd', this.store, '-c', join(this.store, 'nats.conf')];
    const child = spawn(this.program, [...at, ...kept], { stdio: 'ignore' });
    this.child = child;
    const end = Date.now() + START_MS;
    while (!(await isNatsServerAt(this.port, name))) {
      if (child.exitCode !== null || child.signalCode !== null) return false;
      if (Date.now() > end) throw new Error(DID_NOT_START);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    return true;
  }

  /** Ends the server; streams and consumers stay in its store. */
  async stop(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGKILL');
    await ended;
  }

  async drop(): Promise<void> {
    process.off('exit', this.killServer);
    await this.stop();
    rmSync(this.store, { recursive: true, force: true });
  }
}

/** Whether this very server listens on the port: nats-server greets each connection with INFO and its name. */
function isNatsServerAt(port: number, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' });
    let greeting = '';
    const done = (served: boolean): void => {
      socket.destroy();
      resolve(served);
    };
    socket.on('data', (piece) => {
      greeting += piece.toString();
      if (greeting.includes('\n')) done(greeting.startsWith('INFO') && greeting.includes(`"server_name":"${name}"`));
    });
    socket.once('error', () => done(false));
    socket.once('close', () => done(false));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
