import type { CopyHead } from '../copy/copy-progress';

/** Units: decisions kept; some 2 KB each. */
const CAPACITY = 2000;

/**
 * Decisions of one version of the copy. Every use is compared with where the copy stands now: when its version, its
 * epoch or the day (memberships expire) is another, all of them are dropped. Source: docs/performance.md 5.7; ADR 0042.
 */
export class DecisionCache<T> {
  private readonly decisions = new Map<string, T>();
  private version = -1;
  private epoch = '';
  private today = '';

  has(key: string): boolean {
    return this.decisions.has(key);
  }

  /** Shape: undefined unless it was decided at the very state that `head` tells of. */
  get(key: string, head: CopyHead): T | undefined {
    return this.isOf(head) ? this.decisions.get(key) : undefined;
  }

  put(key: string, decision: T, head: CopyHead): void {
    if (!this.isOf(head)) {
      // A statement that took long may bring an older state than the cache is at; it is not worth keeping.
      if (head.epoch === this.epoch && head.version < this.version) return;
      this.decisions.clear();
      ({ version: this.version, epoch: this.epoch, today: this.today } = head);
    }
    if (this.decisions.size >= CAPACITY) this.decisions.delete(this.decisions.keys().next().value as string);
    this.decisions.set(key, decision);
  }

  private isOf(head: CopyHead): boolean {
    return head.version === this.version && head.today === this.today && head.epoch === this.epoch;
  }
}
