/**
 * Answer of the readiness endpoint. Maps the name of each failed check to its reason; `reasons` is empty when ready.
 */
export interface ReadinessReport {
  readonly ready: boolean;
  readonly reasons: Readonly<Record<string, string>>;
}
type ReadinessCheck = () => Promise<string | null> | string | null;

/** A check that takes longer counts as failed. Units: milliseconds. */
const CHECK_LIMIT_MS = 2000;

/**
 * Whether the process is ready for requests. Components register what they cannot work without; the broker is not among
 * it, since writes wait in the outbox while it is away. Source: reference reliability 4.3, 6.4.
 */
export class Readiness {
  private readonly checks = new Map<string, ReadinessCheck>();

  /** Adds a check. It returns null when ready, else the reason, without secrets. A thrown error is a reason too. */
  addCheck(name: string, check: ReadinessCheck): void {
    this.checks.set(name, check);
  }

  /** Removes a check. */
  removeCheck(name: string): void {
    this.checks.delete(name);
  }

  async runChecks(): Promise<ReadinessReport> {
    const outcomes = await Promise.all(
      [...this.checks].map(async ([name, check]) => [name, await runCheckInTime(check)] as const),
    );
    const reasons = Object.fromEntries(outcomes.filter((outcome): outcome is [string, string] => outcome[1] !== null));
    return { ready: Object.keys(reasons).length === 0, reasons };
  }
}

async function runCheckInTime(check: ReadinessCheck): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve(`no answer within ${CHECK_LIMIT_MS} ms`), CHECK_LIMIT_MS);
  });
  try {
    return await Promise.race([check(), late]);
  } catch (error) {
    return error instanceof Error ? error.message : 'failed';
  } finally {
    clearTimeout(timer);
  }
}
