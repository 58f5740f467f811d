import { isSignedIn, Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { runForWaiter } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import type { CallerChecks } from './caller-checks';
import { STALE_MS } from './caller-checks';

/** Repeats the authorization of a request. `viewer` has the directory version that decisions must have seen. */
export type Reauthorize = (viewer: Viewer) => Promise<void>;

/**
 * Rechecks the permissions of one request when it has waited too long. All waits count alike: for a body, the directory
 * copy, a limit, a connection, a lock, or a suspended process. Source: ADR 0050.
 */
export class RequestRights implements Rights {
  /** Set once the request is authorized. */
  reauthorize: Reauthorize | null = null;
  private rechecking: Promise<void> | null = null;
  /** Whether the request has committed a change, even if its answer fails. */
  hasCommitted = false;

  /**
   * Units: `checkedAt` as performance.now(), the time when the context's claims held; `freshMs` their longest validity.
   */
  constructor(
    private readonly viewer: Viewer,
    private readonly checks: CallerChecks,
    private checkedAt: number,
    private readonly freshMs: number,
    private readonly isRotating = false,
    /** Idempotency key of the write. */
    private readonly key: string | null = null,
  ) {}

  recheckBeforeRead(): Promise<void> | null {
    return this.hasCommitted ? null : this.recheckBeforeWrite();
  }

  validForMs(): number {
    return this.freshMs - (performance.now() - this.checkedAt);
  }

  recheckBeforeWrite(): Promise<void> | null {
    if (this.validForMs() >= 0) return null;
    this.rechecking ??= this.recheck().finally(() => (this.rechecking = null));
    return this.rechecking;
  }

  /**
   * Ends the rechecks before reads: a request that removed its own permission (a token that revokes itself) still gets
   * its answer.
   */
  recordCommit(): void {
    this.hasCommitted = true;
  }

  /**
   * Uses the connections for processes, because requests that are being rechecked may hold all connections for
   * requests.
   */
  private recheck(): Promise<void> {
    return runForWaiter({ kind: 'process', deadline: this.viewer.deadline }, async () => {
      do {
        if (Date.now() >= this.viewer.deadline) throw new Unavailable('deadline');
        this.checkedAt = await this.confirmCallerOnce();
      } while (performance.now() - this.checkedAt > STALE_MS);
    });
  }

  /** Returns the time at which the permissions held. Units: as performance.now(). */
  private async confirmCallerOnce(): Promise<number> {
    const { viewer } = this;
    if (!isSignedIn(viewer)) {
      const now = performance.now();
      await this.reauthorize?.(viewer);
      return now;
    }
    const { askedAt, directory } = await this.checks.confirmCaller(viewer, this.isRotating, this.key);
    if (directory.epoch !== viewer.directory.epoch) throw new Unavailable('directory behind');
    const version = Math.max(directory.version, viewer.directory.version);
    await this.reauthorize?.({ ...viewer, directory: { ...directory, version } });
    return askedAt;
  }
}

/** Fields of a project or group that no decision depends on. */
const SHOWN_ONLY: ReadonlySet<string> = new Set([
  'name',
  'fullName',
  'nameWithNamespace',
  'path',
  'fullPath',
  'description',
  'avatarUrl',
  'defaultBranch',
]);

/** Serializes the fields of a parent's scope on which decisions depend, for comparison. */
export function serializeDecisionFields(scope: unknown): string | undefined {
  return JSON.stringify(scope, (key, value: unknown) => (SHOWN_ONLY.has(key) ? undefined : value));
}
