import { monitorEventLoopDelay } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { shed } from '../edge/refusal';
import type { Refusal } from '../edge/refusal';
import type { Tally } from '../metrics/tally';
import type { ShedClass } from '../routes/route';

export interface SheddingLimits {
  readonly inFlight: number;
  readonly loopDelayMs: number;
  readonly heapPercent: number;
}

/** What the gateway feels at the end of each second. Units: milliseconds, percent of the heap limit. */
export interface Strain {
  readonly loopDelayMs: number;
  readonly heapPercent: number;
}

const SAMPLE_MS = 1000;
const RESOLUTION_MS = 20;
const STEPS = 4;
/** Part of the in-flight limit from which each step begins; the last is the limit itself. */
const STEP_PARTS = [0.7, 0.8, 0.9, 1] as const;
/** Removals too end somewhere. */
const VITAL_PART = 2;

/**
 * Refuses work before it is begun. Steps: anonymous lists, lists, reads, writes; removals and health go on. Each
 * second of strain takes one step more, each second without one step back; too many requests in flight take the
 * steps at once. Source: reference reliability 6.3.
 */
export class LoadShedding {
  private step = 0;
  private readonly delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly limits: SheddingLimits,
    private readonly tally: Tally,
  ) {
    this.delay.enable();
    this.timer = setInterval(() => this.feel(this.strain()), SAMPLE_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
    this.delay.disable();
  }

  /** Takes a step up or down; called once a second. */
  feel({ loopDelayMs, heapPercent }: Strain): void {
    const strained = loopDelayMs > this.limits.loopDelayMs || heapPercent > this.limits.heapPercent;
    this.step = strained ? Math.min(STEPS, this.step + 1) : Math.max(0, this.step - 1);
  }

  /** The refusal of one request, or null. Shape: `mayBeAnonymous` when it carries no credential. */
  refusal(of: ShedClass, mayBeAnonymous: boolean): Refusal | null {
    if (this.step === 0 && this.tally.inFlight <= this.limits.inFlight * STEP_PARTS[0]) return null;
    const isGivenUp =
      of === 'vital'
        ? this.tally.inFlight > this.limits.inFlight * VITAL_PART
        : stepOf(of, mayBeAnonymous) <= Math.max(this.step, this.crowding());
    if (!isGivenUp) return null;
    this.tally.shed(of);
    return shed();
  }

  private crowding(): number {
    const part = this.tally.inFlight / this.limits.inFlight;
    return STEP_PARTS.filter((from) => part > from).length;
  }

  private strain(): Strain {
    const loopDelayMs = this.delay.percentile(99) / 1e6 - RESOLUTION_MS;
    this.delay.reset();
    const heap = getHeapStatistics();
    return { loopDelayMs, heapPercent: (heap.used_heap_size / heap.heap_size_limit) * 100 };
  }
}

/** The step that gives this class up. */
function stepOf(of: Exclude<ShedClass, 'vital'>, mayBeAnonymous: boolean): number {
  if (of === 'list') return mayBeAnonymous ? 1 : 2;
  return of === 'read' ? 3 : 4;
}
