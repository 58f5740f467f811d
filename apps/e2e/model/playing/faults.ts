import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import type { SeededRandom } from './seeded-random';

/** Access to the estate for causing faults. */
export interface Levers {
  /** Addresses of the databases by service. */
  readonly databases: Readonly<Record<string, string>>;
  readonly control: (path: string) => Promise<unknown>;
  /** Process ids by name, as they are now. */
  readonly pids: () => Promise<Readonly<Record<string, number>>>;
  readonly secondGateway: number;
}

export interface Fault {
  readonly about: string;
  readonly start: number;
  readonly end: number;
}

const READERS = ['collaboration', 'package'] as const;
/** Longer than the lease, so that it expires while identity is stopped. Units: ms. */
const LONGEST_PAUSE_MS = 2500;

/**
 * Causes one fault after the other while the drivers play. A service's applier is paused by holding the lock that it
 * needs to store a batch: its API keeps answering from a copy that does not advance (ADR 0090).
 */
export class Faults {
  readonly done: Fault[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    private readonly levers: Levers,
    private readonly random: SeededRandom,
    private readonly now: () => number,
  ) {}

  start(): void {
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      await this.rest(100 + this.random.below(900));
      if (!this.stopping.signal.aborted) await this.one();
    }
  }

  private async one(): Promise<void> {
    const ms = 100 + this.random.below(LONGEST_PAUSE_MS);
    const reader = this.random.pick(READERS)!;
    const kinds: [number, string, () => Promise<unknown>][] = [
      [
        36,
        `appliers of both are paused for ${ms} ms`,
        () => Promise.all(READERS.map((name) => this.pauseApplier(name, ms))),
      ],
      [16, `the applier of ${reader} is paused for ${ms} ms`, () => this.pauseApplier(reader, ms)],
      [
        8,
        `the applier of ${reader} and identity are paused for ${ms} ms`,
        () => Promise.all([this.pauseApplier(reader, ms), this.stopProcess('identity', ms)]),
      ],
      [8, `identity is stopped for ${ms} ms`, () => this.stopProcess('identity', ms)],
      [8, `${reader} is stopped for ${ms} ms`, () => this.stopProcess(reader, ms)],
      [8, `the second gateway is stopped for ${ms} ms`, () => this.stopProcess(null, ms)],
      [6, `${reader} is killed`, () => this.levers.control(`/processes/${reader}/restart`)],
      [3, 'identity is killed', () => this.levers.control('/processes/identity/restart')],
      [2, 'the first gateway is killed', () => this.levers.control('/processes/gateway/restart')],
      [5, `NATS is stopped for ${ms} ms`, () => this.withoutNats(ms)],
    ];
    const [, about, act] = this.random.weighted(kinds.map((kind) => [kind[0], kind] as const));
    const start = this.now();
    await act();
    this.done.push({ about, start, end: this.now() });
  }

  private async pauseApplier(service: string, ms: number): Promise<void> {
    const client = new Client({ connectionString: this.levers.databases[service] });
    await client.connect();
    try {
      await client.query('begin');
      await client.query('select 1 from directory_state for update');
      await this.rest(ms);
      await client.query('rollback');
    } finally {
      await client.end();
    }
  }

  private async stopProcess(name: string | null, ms: number): Promise<void> {
    const pids = await this.levers.pids();
    // All services may be in one process, which is then stopped as a whole.
    const pid = name === null ? this.levers.secondGateway : (pids[name] ?? pids['one']);
    if (!pid) return;
    process.kill(pid, 'SIGSTOP');
    try {
      await this.rest(ms);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }

  private async withoutNats(ms: number): Promise<void> {
    await this.levers.control('/nats/stop');
    await this.rest(ms);
    await this.levers.control('/nats/start');
  }

  private rest(ms: number): Promise<void> {
    return pause(ms, undefined, { signal: this.stopping.signal }).catch(() => undefined);
  }
}
