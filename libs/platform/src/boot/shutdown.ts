import type { Logger } from '../observability/logger';

export const SHUTDOWN_PHASES = ['announce', 'stop-accepting', 'drain', 'close'] as const;
export type ShutdownPhase = (typeof SHUTDOWN_PHASES)[number];
interface Step {
  readonly phase: ShutdownPhase;
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * How the process ends, in order: `announce` (replies say `Connection: close`, new connections are still taken),
 * `stop-accepting` (no new connections), `drain` (requests in flight finish, consumers stop pulling and settle what they hold, relay leadership is let go), `close`
 * (pools and files). Steps of the first three phases run side by side, those of `close` one by one, latest registered
 * first. A step that fails is logged and does not stop the others. Source: reference reliability 6.4.
 */
export class ShutdownOrder {
  private readonly steps: Step[] = [];
  private readonly open = new Set<string>();
  private running: Promise<boolean> | undefined;
  private announced: Promise<boolean> | undefined;

  constructor(private readonly logger: Logger) {}

  /** True from the moment the end was asked for. */
  get hasBegun(): boolean {
    return this.running !== undefined;
  }

  /** Names of the steps that have begun and not ended. */
  get unfinished(): readonly string[] {
    return [...this.open];
  }

  on(phase: ShutdownPhase, name: string, step: () => Promise<void>): void {
    this.steps.push({ phase, name, run: step });
  }

  /**
   * The first phase alone, some time before the others: whoever keeps connections is told while they are still served.
   * Resolves to whether every step succeeded.
   */
  announce(): Promise<boolean> {
    this.announced ??= this.sideBySide('announce');
    return this.announced;
  }

  /** Runs all phases, once however often it is called. Resolves to whether every step succeeded. */
  run(): Promise<boolean> {
    this.running ??= this.runPhases();
    return this.running;
  }

  private async runPhases(): Promise<boolean> {
    const announced = await this.announce();
    const stopped = await this.sideBySide('stop-accepting');
    const drained = await this.sideBySide('drain');
    let closed = true;
    for (const step of this.of('close').reverse()) closed = (await this.attempt(step)) && closed;
    return announced && stopped && drained && closed;
  }

  private async sideBySide(phase: ShutdownPhase): Promise<boolean> {
    const outcomes = await Promise.all(this.of(phase).map((step) => this.attempt(step)));
    return outcomes.every(Boolean);
  }

  private of(phase: ShutdownPhase): Step[] {
    return this.steps.filter((step) => step.phase === phase);
  }

  private async attempt(step: Step): Promise<boolean> {
    const startedAt = performance.now();
    this.open.add(step.name);
    try {
      await step.run();
      this.logger.debug(
        { phase: step.phase, step: step.name, ms: Math.round(performance.now() - startedAt) },
        'shutdown step',
      );
      return true;
    } catch (err) {
      this.logger.error({ err, phase: step.phase, step: step.name }, 'shutdown step failed');
      return false;
    } finally {
      this.open.delete(step.name);
    }
  }
}
