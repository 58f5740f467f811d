import type { DirectoryMark } from '../request/caller';

/**
 * The newest directory version that this gateway knows of: no request may be decided on an older one. It rises with
 * token checks, with pushes, and with the answers to identity's writes.
 * Source: reference reliability 4.2; ADR 0042, 0050.
 */
export class DirectoryFloor {
  private mark: DirectoryMark | null = null;
  private seenAt = -Infinity;
  private pushed = 0;
  private written = 0;
  /** Counts what may make an answer under way outdated: writes seen, rights changed, epochs begun. */
  turns = 0;

  get current(): DirectoryMark | null {
    return this.mark;
  }

  /** Notes what identity said just now. Returns false when it says that its log was begun anew. */
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
    this.turns += 1;
    return known === null;
  }

  /** A push has been applied: exactly the leases that it concerns are gone. */
  push(version: number, changedRights: boolean): void {
    this.pushed = Math.max(this.pushed, version);
    if (changedRights) this.turns += 1;
  }

  /** A write through this gateway made this version; until the push catches up, older token checks do not count. */
  raise(version: number): void {
    const known = this.mark;
    if (known === null) return;
    if (version > known.version) this.mark = { version, epoch: known.epoch };
    if (version <= this.written) return;
    this.written = version;
    if (this.pushed < version) this.turns += 1;
  }

  /** Whether a token check made at this mark has seen every write that went through this gateway. */
  covers(mark: DirectoryMark): boolean {
    if (mark.epoch !== this.mark?.epoch) return false;
    return mark.version >= this.written || this.pushed >= this.written;
  }

  /** Units: milliseconds since identity last said where it stands. */
  age(now: number): number {
    return now - this.seenAt;
  }
}
