/** Whose share counts: a person by id, or the address of somebody without a token. */
export type Caller = number | string;

interface Share {
  held: number;
  readonly line: (() => void)[];
}

/**
 * What part of something each caller has at once: whoever asks for more waits for their own, so that others always find
 * one of several. Source: reference reliability 6.3.
 */
export class CallerShares {
  /** Callers who have something. */
  private readonly shares = new Map<Caller, Share>();

  constructor(private readonly most: number) {}

  /** Whether one was free, and is taken. */
  take(caller: Caller): boolean {
    const share = this.shares.get(caller);
    if (share === undefined) this.shares.set(caller, { held: 1, line: [] });
    else if (share.held < this.most) share.held += 1;
    else return false;
    return true;
  }

  /** For whoever found none: `begin` is called with one taken. */
  wait(caller: Caller, begin: () => void): void {
    this.shares.get(caller)!.line.push(begin);
  }

  giveBack(caller: Caller): void {
    const share = this.shares.get(caller)!;
    const next = share.line.shift();
    if (next) return next();
    share.held -= 1;
    if (share.held === 0) this.shares.delete(caller);
  }
}
