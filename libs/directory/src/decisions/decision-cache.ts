import type { CopyHead } from '../copy/copy-progress';

/** Number of cached decisions, about 2 KB each. */
const CAPACITY = 2000;

/**
 * Cache of decisions at one version of the copy. Every use passes the current position of the copy. A decision is
 * returned only for the same version, epoch and day (memberships expire). Source: docs/performance.md 5.7; ADR 0042.
 */
export class DecisionCache<T> {
  private readonly decisions = new Map<string, T>();
  private version = -1;
  private epoch = '';
  private today = '';

  hasDecision(key: string): boolean {
    return this.decisions.has(key);
  }

  /** Returns a cached decision. Returns undefined unless it was made at the position and day of `head`. */
  findDecision(key: string, head: CopyHead): T | undefined {
    return this.isForHead(head) ? this.decisions.get(key) : undefined;
  }

  storeDecision(key: string, decision: T, head: CopyHead): void {
    if (!this.isForHead(head)) {
      // A slow statement may return an older state than that of the cache. Its decision is not stored.
      if (head.epoch === this.epoch && head.version < this.version) return;
      this.decisions.clear();
      ({ version: this.version, epoch: this.epoch, today: this.today } = head);
    }
    if (this.decisions.size >= CAPACITY) this.decisions.delete(this.decisions.keys().next().value as string);
    this.decisions.set(key, decision);
  }

  private isForHead(head: CopyHead): boolean {
    return head.version === this.version && head.today === this.today && head.epoch === this.epoch;
  }
}
