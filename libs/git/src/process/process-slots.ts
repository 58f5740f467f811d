import { GitBusy } from './git-error';

/** Units: milliseconds for `waitMs`. */
export interface SlotLimits {
  /** Processes at a time, over all repositories. */
  readonly total: number;
  /** Processes at a time for one repository. */
  readonly perRepository: number;
  /** Callers that wait, over all repositories. */
  readonly queued: number;
  readonly waitMs: number;
}

const QUEUED = 64;
/** Each waiting transport holds a connection of the gateway, which has 256 to a service, so half of them stay free. */
const QUEUED_TRANSPORTS = 128;
/** A command belongs to a request, which ends after 30 seconds. */
const COMMAND_WAIT_MS = 20_000;
/**
 * Longest wait of a clone or push for a free process. git clients wait for an answer without a limit and do not repeat a
 * refused clone, so that a wait beats a refusal. Units: milliseconds.
 */
export const TRANSPORT_WAIT_MS = 300_000;

/** Fetches between repositories of this machine. A push to a fork may wait for one while it has a transport slot itself. */
const INSIDE = 4;

/**
 * Returns the limits of each lane. The arguments are the configured maximum numbers of concurrent commands and
 * transports.
 */
export function gitProcessSlotLimits(
  commands: number,
  transports: number,
): { command: SlotLimits; transport: SlotLimits; inside: SlotLimits } {
  const limits = (total: number, waitMs: number): SlotLimits => ({
    total,
    perRepository: Math.ceil(total / 2),
    queued: QUEUED,
    waitMs,
  });
  return {
    command: limits(commands, COMMAND_WAIT_MS),
    transport: { ...limits(transports, TRANSPORT_WAIT_MS), queued: QUEUED_TRANSPORTS },
    inside: limits(INSIDE, COMMAND_WAIT_MS),
  };
}

/** The caller of a slot. */
interface SlotCaller {
  readonly signal?: AbortSignal | undefined;
  /** Whether the client has disconnected. */
  readonly isGone?: (() => boolean) | undefined;
}

interface WaitingProcess {
  readonly key: string;
  readonly isGone: () => boolean;
  readonly start: () => void;
  readonly giveUp: () => void;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Semaphore for git processes, by repository and in total. Callers wait in a bounded queue in the order of arrival;
 * a caller whose repository is full does not hold up callers of others, and one whose client has left gets no slot.
 * Errors: GitBusy if the queue is full or the wait was too long; the reason of `signal`.
 */
export class ProcessSlots {
  private running = 0;
  private readonly byRepository = new Map<string, number>();
  private readonly queue: WaitingProcess[] = [];

  constructor(private readonly limits: SlotLimits) {}

  /** Waits for a slot and returns the function that frees it. The function may be called several times. */
  async takeSlot(key: string, { signal, isGone = () => false }: SlotCaller = {}): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.hasFreeSlot(key)) return this.occupySlot(key);
    if (this.queue.length >= this.limits.queued) this.removeGoneCallers();
    if (this.queue.length >= this.limits.queued) {
      throw new GitBusy('Too many git processes are waiting.', RETRY_AFTER_SECONDS);
    }
    return new Promise((resolve, reject) => {
      const leave = (error: unknown): void => {
        const index = this.queue.indexOf(waiting);
        if (index >= 0) this.queue.splice(index, 1);
        settle();
        reject(error);
      };
      const busy = () => leave(new GitBusy('Too many git processes are running.', RETRY_AFTER_SECONDS));
      const aborted = () => leave(signal?.reason);
      const timer = setTimeout(busy, this.limits.waitMs);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', aborted);
      };
      const waiting: WaitingProcess = {
        key,
        isGone,
        giveUp: () => leave(new GitBusy('The client has disconnected.', RETRY_AFTER_SECONDS)),
        start: () => {
          settle();
          resolve(this.occupySlot(key));
        },
      };
      signal?.addEventListener('abort', aborted, { once: true });
      this.queue.push(waiting);
    });
  }

  /** Numbers of running and waiting processes, for metrics. */
  get load(): { readonly running: number; readonly waiting: number } {
    return { running: this.running, waiting: this.queue.length };
  }

  private hasFreeSlot(key: string): boolean {
    return this.running < this.limits.total && (this.byRepository.get(key) ?? 0) < this.limits.perRepository;
  }

  private occupySlot(key: string): () => void {
    this.running += 1;
    this.byRepository.set(key, (this.byRepository.get(key) ?? 0) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.running -= 1;
      const left = (this.byRepository.get(key) ?? 1) - 1;
      if (left > 0) this.byRepository.set(key, left);
      else this.byRepository.delete(key);
      this.startNextProcess();
    };
  }

  private removeGoneCallers(): void {
    for (const waiting of [...this.queue]) if (waiting.isGone()) waiting.giveUp();
  }

  private startNextProcess(): void {
    this.removeGoneCallers();
    const index = this.queue.findIndex(({ key }) => this.hasFreeSlot(key));
    if (index < 0) return;
    const [waiting] = this.queue.splice(index, 1);
    waiting?.start();
  }
}
