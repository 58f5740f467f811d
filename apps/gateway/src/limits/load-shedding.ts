import { getHeapStatistics } from 'node:v8';
import { shedRefusal } from '../request/refusal';
import type { Refusal } from '../request/refusal';
import { ConcurrencyLimit, LEAST_IN_FLIGHT } from '../metrics/concurrency-limit';
import type { Tally } from '../metrics/tally';
import type { ShedClass } from '../routes/route';

export interface SheddingLimits {
  readonly inFlight: number;
  readonly heapPercent: number;
}

const SAMPLE_MS = 1000;
const STEPS = 4;
/** Fraction of the concurrency limit at which each step begins; the last is the limit itself. */
const STEP_PARTS = [0.7, 0.8, 0.9, 1] as const;
/** The limit for removals and health checks, as a multiple of the concurrency limit. */
const VITAL_PART = 2;

/**
 * Refuses requests before they begin when the gateway is overloaded. Steps: anonymous lists, lists, reads, writes;
 * removals and health checks continue. The step follows the usage of the concurrency limit, which depends on how late
 * answers are, and rises by one for each second with a full heap. CPU use by other processes causes no refusal while
 * few requests are in flight. Source: reference reliability 6.3; ADR 0050.
 */
export class LoadShedding {
  private step = 0;
  private readonly concurrency: ConcurrencyLimit;
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly limits: SheddingLimits,
    private readonly tally: Tally,
  ) {
    const least = Math.min(limits.inFlight, Math.ceil(LEAST_IN_FLIGHT / STEP_PARTS[0]));
    this.concurrency = new ConcurrencyLimit(least, limits.inFlight);
    tally.concurrency = this.concurrency;
    this.timer = setInterval(() => this.adapt(heapUsedPercent()), SAMPLE_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** Called once a second. Units: percent of the heap limit. */
  adapt(heap: number): void {
    this.step = heap > this.limits.heapPercent ? Math.min(STEPS, this.step + 1) : Math.max(0, this.step - 1);
    this.concurrency.adapt();
  }

  /** Returns the refusal of one request, or null. `mayBeAnonymous` is true for a request without a credential. */
  refusal(of: ShedClass, mayBeAnonymous: boolean): Refusal | null {
    const inFlight = this.tally.inFlight - this.tally.collecting - this.tally.waiting;
    const limit = this.concurrency.current;
    this.concurrency.recordStart(inFlight);
    if (this.step === 0 && inFlight <= limit * STEP_PARTS[0]) return null;
    const crowding = STEP_PARTS.filter((from) => inFlight > limit * from).length;
    const isRefused =
      of === 'vital'
        ? inFlight > limit * VITAL_PART
        : firstSheddingStep(of, mayBeAnonymous) <= Math.max(this.step, crowding);
    if (!isRefused) return null;
    this.tally.countShed(of);
    return shedRefusal();
  }
}

function heapUsedPercent(): number {
  const heap = getHeapStatistics();
  return (heap.used_heap_size / heap.heap_size_limit) * 100;
}

/** The step that refuses this class. */
function firstSheddingStep(shedClass: Exclude<ShedClass, 'vital'>, mayBeAnonymous: boolean): number {
  if (shedClass === 'list') return mayBeAnonymous ? 1 : 2;
  return shedClass === 'read' ? 3 : 4;
}
