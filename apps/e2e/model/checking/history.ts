/** The duration of a call, by the driver's clock: from before its first byte was sent until its whole answer arrived. Units: ms. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A state and the change that led to it. The change took effect at one moment within its span. */
export interface Entry<S> extends Span {
  readonly state: S;
  /** The gateway through which the change was made. */
  readonly gateway: string;
  readonly about: string;
}

/** Indexes of the first and last entry that a call may have met. */
export interface Window {
  readonly low: number;
  readonly high: number;
}

/**
 * All states of one person, secret or forest, which has one writer at a time. A call may have met no state before the
 * latest change that was answered when the call began, and none after the last change that began before the call ended.
 * Source: reference reliability 4.4.
 */
export class History<S> {
  private readonly entries: Entry<S>[];

  constructor(first: S) {
    this.entries = [{ start: -Infinity, end: -Infinity, state: first, gateway: '', about: 'in the beginning' }];
  }

  get latest(): S {
    return this.entries.at(-1)!.state;
  }

  get length(): number {
    return this.entries.length;
  }

  at(index: number): Entry<S> {
    return this.entries[index]!;
  }

  push(entry: Entry<S>): void {
    this.entries.push(entry);
  }

  /**
   * Returns the entries that a call may have met. A call certainly meets a change that was made through another gateway
   * only `slackMs` after it was answered.
   */
  window({ start, end }: Span, gateway: string, slackMs: number): Window {
    let low = 0;
    let high = 0;
    for (const [index, entry] of this.entries.entries()) {
      if (entry.end < (entry.gateway === gateway ? start : start - slackMs)) low = index;
      if (entry.start <= end) high = index;
    }
    return { low, high };
  }

  /** Returns the longest span in which the state may have held. */
  life(index: number): Span {
    return { start: this.at(index).start, end: this.entries[index + 1]?.end ?? Infinity };
  }
}

/** Reports whether both may have held at one moment. */
export function mayCoexist(one: Span, other: Span): boolean {
  return Math.max(one.start, other.start) <= Math.min(one.end, other.end);
}
