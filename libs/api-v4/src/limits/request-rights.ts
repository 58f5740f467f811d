import { isSignedIn, Unavailable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { awaitedBy } from '@rookery/platform';
import type { Rights } from '@rookery/platform';
import type { CallerChecks } from './caller-checks';
import { STALE_MS } from './caller-checks';

/** Judges what was decided for a request once more. Shape: `viewer` with the directory version that must be seen now. */
export type JudgeAgain = (viewer: Viewer) => Promise<void>;

/**
 * By what right one request goes on. What was waited for since it came is not told apart: a body, the copy of the
 * directory, a place, a connection, a lock, or a process that stood still. Source: ADR 0050.
 */
export class RequestRights implements Rights {
  /** Set once something was decided. */
  judgeAgain: JudgeAgain | null = null;
  private looking: Promise<void> | null = null;
  /** Whether something of the request stays, whatever becomes of its answer. */
  hasCommitted = false;

  /** Units: `lookedAt` as performance.now(), when what the context says held; `freshMs` how long that is gone by. */
  constructor(
    private readonly viewer: Viewer,
    private readonly checks: CallerChecks,
    private lookedAt: number,
    private readonly freshMs: number,
    private readonly isRotating = false,
    /** Names the write. */
    private readonly key: string | null = null,
  ) {}

  look(): Promise<void> | null {
    return this.hasCommitted ? null : this.lookToWrite();
  }

  leftMs(): number {
    return this.freshMs - (performance.now() - this.lookedAt);
  }

  lookToWrite(): Promise<void> | null {
    if (this.leftMs() >= 0) return null;
    this.looking ??= this.lookAgain().finally(() => (this.looking = null));
    return this.looking;
  }

  /** A request that took its own right away (a token that revokes itself) still tells what it did. */
  committed(): void {
    this.hasCommitted = true;
  }

  /** Beside the connections of requests: all of these may be held by requests that look. */
  private lookAgain(): Promise<void> {
    return awaitedBy({ kind: 'process', deadline: this.viewer.deadline }, async () => {
      do {
        if (Date.now() >= this.viewer.deadline) throw new Unavailable('deadline');
        this.lookedAt = await this.once();
      } while (performance.now() - this.lookedAt > STALE_MS);
    });
  }

  /** Answers when it held. */
  private async once(): Promise<number> {
    const { viewer } = this;
    if (!isSignedIn(viewer)) {
      const now = performance.now();
      await this.judgeAgain?.(viewer);
      return now;
    }
    const { askedAt, directory } = await this.checks.confirmed(viewer, this.isRotating, this.key);
    if (directory.epoch !== viewer.directory.epoch) throw new Unavailable('directory behind');
    const version = Math.max(directory.version, viewer.directory.version);
    await this.judgeAgain?.({ ...viewer, directory: { ...directory, version } });
    return askedAt;
  }
}

/** Of a project or group: what nothing is decided by. */
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

/** What requests are decided by of the scope of their parent, for comparing two of one. */
export function decidingFacts(scope: unknown): string | undefined {
  return JSON.stringify(scope, (key, value: unknown) => (SHOWN_ONLY.has(key) ? undefined : value));
}
