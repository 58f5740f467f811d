import type { Logger } from '../observability/logger';

export type ShutdownPhase = 'announce' | 'stop-accepting' | 'drain' | 'close';
interface ShutdownStep {
  readonly phase: ShutdownPhase;
  readonly name: string;
  readonly run: () => Promise<void>;
}

/**
 * Shutdown of the process in phases: `announce` (answers have `Connection: close`, new connections are still accepted),
 * `stop-accepting` (no new connections), `drain` (requests in flight finish, consumers stop pulling and finish their
 * batches, the relay gives up leadership), `close` (pools and files). Steps of the first three phases run concurrently,
 * those of `close` one by one, latest registered first. A failed step is logged and does not stop the others.
 * Source: reference reliability 6.4.
 */
export class ShutdownOrder {
  private readonly steps: ShutdownStep[] = [];
  private readonly open = new Set<string>();
  private running: Promise<boolean> | undefined;
  private announced: Promise<boolean> | undefined;

  constructor(private readonly logger: Logger) {}

  /** True since the shutdown was requested. */
  get hasBegun(): boolean {
    return this.running !== undefined;
  }

  /** Names of the running steps. */
  get unfinishedSteps(): readonly string[] {
    return [...this.open];
  }

  addStep(phase: ShutdownPhase, name: string, step: () => Promise<void>): void {
    this.steps.push({ phase, name, run: step });
  }

  /**
   * Runs the first phase alone, some time before the others: clients with open connections are notified while they are
   * still served. Resolves to whether every step succeeded.
   */
  runAnnouncement(): Promise<boolean> {
    this.announced ??= this.runPhaseConcurrently('announce');
    return this.announced;
  }

  /** Runs all phases; repeated calls share one run. Resolves to whether every step succeeded. */
  runAll(): Promise<boolean> {
    this.running ??= this.runPhases();
    return this.running;
  }

  private async runPhases(): Promise<boolean> {
    const announced = await this.runAnnouncement();
    const stopped = await this.runPhaseConcurrently('stop-accepting');
    const drained = await this.runPhaseConcurrently('drain');
    let closed = true;
    for (const step of this.stepsInPhase('close').reverse()) closed = (await this.attemptStep(step)) && closed;
    return announced && stopped && drained && closed;
  }

  private async runPhaseConcurrently(phase: ShutdownPhase): Promise<boolean> {
    const outcomes = await Promise.all(this.stepsInPhase(phase).map((step) => this.attemptStep(step)));
    return outcomes.every(Boolean);
  }

  private stepsInPhase(phase: ShutdownPhase): ShutdownStep[] {
    return this.steps.filter((step) => step.phase === phase);
  }

  private async attemptStep(step: ShutdownStep): Promise<boolean> {
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

/**
 * Shuts down all parts of a process: the first alone, then the others together, because requests in flight at the first
 * need the others. Resolves to whether every step succeeded.
 */
export async function shutDown([first, ...others]: readonly { readonly shutdown: ShutdownOrder }[]): Promise<boolean> {
  const isClean = (await first?.shutdown.runAll()) ?? true;
  const outcomes = await Promise.all(others.map(({ shutdown }) => shutdown.runAll()));
  return isClean && outcomes.every(Boolean);
}
