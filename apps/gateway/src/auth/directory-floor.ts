import type { DirectoryMark } from '../request/caller';

/**
 * The newest directory version that this gateway has seen: no request may be decided on an older one. It rises with
 * token checks, with pushes, and with the answers to identity's writes.
 * Source: reference reliability 4.2; ADR 0042, 0050.
 */
export class DirectoryFloor {
  private mark: DirectoryMark | null = null;
  private seenAt = -Infinity;
  private pushed = 0;
  private written = 0;
  /** Counts events that may make a running check outdated: writes, changes of permissions, new epochs. */
  invalidations = 0;

  get current(): DirectoryMark | null {
    return this.mark;
  }

  /** Records a position that identity just reported. Returns false if its log started over. */
  observe(mark: DirectoryMark, now: number): boolean {
    this.seenAt = now;
    const known = this.mark;
    if (known?.epoch === mark.epoch) {
      if (mark.version > known.version) this.mark = { version: mark.version, epoch: mark.epoch };
      return true;
    }
    this.mark = { version: mark.version, epoch: mark.epoch };
    this.pushed = 0;
    this.written = 0;
    this.invalidations += 1;
    return known === null;
  }

  /** Records that pushed changes were applied: exactly the leases that they concern are dropped. */
  push(version: number, changedRights: boolean): void {
    this.pushed = Math.max(this.pushed, version);
    if (changedRights) this.invalidations += 1;
  }

  /**
   * Records the version of a write through this gateway; until the push catches up, older token checks do not count.
   */
  raise(version: number): void {
    const known = this.mark;
    if (known === null) return;
    if (version > known.version) this.mark = { version, epoch: known.epoch };
    if (version <= this.written) return;
    this.written = version;
    if (this.pushed < version) this.invalidations += 1;
  }

  /** Whether a token check at this mark includes every write through this gateway. */
  covers(mark: DirectoryMark): boolean {
    if (mark.epoch !== this.mark?.epoch) return false;
    return mark.version >= this.written || this.pushed >= this.written;
  }

  /** The time since identity last reported its position. Units: milliseconds. */
  age(now: number): number {
    return now - this.seenAt;
  }
}
