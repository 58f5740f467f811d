/** A caller with a share of connections: a user's id, or the address of a client without a token. */
export type Caller = number | string;

interface CallerShare {
  held: number;
  readonly line: (() => void)[];
}

/**
 * Connections that are shared fairly among callers. Each caller holds at most `most` of them; further requests wait. A
 * connection that comes back goes to the waiting caller that holds fewest, so a caller with few requests does not wait
 * behind the many of another.
 * Source: reference reliability 6.3.
 */
export class CallerConnectionShares {
  /** Callers that hold or await a connection, the least recently served first. */
  private readonly shares = new Map<Caller, CallerShare>();

  constructor(
    private free: number,
    private readonly most: number,
  ) {}

  /** Takes a connection of the caller's share. Returns false if none is free or the share is used up. */
  takeShare(caller: Caller): boolean {
    if (this.free === 0) return false;
    const share = this.shares.get(caller);
    if (share === undefined) this.shares.set(caller, { held: 1, line: [] });
    else if (share.held < this.most) share.held += 1;
    else return false;
    this.free -= 1;
    return true;
  }

  /** Queues a caller after `takeShare` returned false: `begin` is called once a connection was taken for it. */
  waitForShare(caller: Caller, begin: () => void): void {
    const share = this.shares.get(caller);
    if (share) share.line.push(begin);
    else this.shares.set(caller, { held: 0, line: [begin] });
  }

  get waiting(): number {
    let count = 0;
    for (const { line } of this.shares.values()) count += line.length;
    return count;
  }

  giveBack(caller: Caller): void {
    const share = this.shares.get(caller)!;
    share.held -= 1;
    this.free += 1;
    if (share.held === 0 && share.line.length === 0) this.shares.delete(caller);
    this.serveNextWaiter();
  }

  private serveNextWaiter(): void {
    let next: [Caller, CallerShare] | undefined;
    for (const [caller, share] of this.shares) {
      if (share.line.length > 0 && share.held < (next?.[1].held ?? this.most)) next = [caller, share];
    }
    if (!next) return;
    const [caller, share] = next;
    this.shares.delete(caller);
    this.shares.set(caller, share);
    share.held += 1;
    this.free -= 1;
    share.line.shift()!();
  }
}
