/** Whose share counts: a person by id, or the address of somebody without a token. */
export type Caller = number | string;

interface Share {
  held: number;
  readonly line: (() => void)[];
}

/**
 * So many of something, and what part of them each caller has at once. Whoever asks for more waits; what is given back
 * goes to whoever waits with least in hand, so that nobody waits behind the many requests of others.
 * Source: reference reliability 6.3.
 */
export class CallerShares {
  /** Callers who have something or wait for it, in the order in which they were served last. */
  private readonly shares = new Map<Caller, Share>();

  constructor(
    private free: number,
    private readonly most: number,
  ) {}

  /** Whether one was free, and is taken. */
  take(caller: Caller): boolean {
    if (this.free === 0) return false;
    const share = this.shares.get(caller);
    if (share === undefined) this.shares.set(caller, { held: 1, line: [] });
    else if (share.held < this.most) share.held += 1;
    else return false;
    this.free -= 1;
    return true;
  }

  /** For whoever found none: `begin` is called with one taken. */
  wait(caller: Caller, begin: () => void): void {
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
    this.serveNext();
  }

  private serveNext(): void {
    let next: [Caller, Share] | undefined;
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
