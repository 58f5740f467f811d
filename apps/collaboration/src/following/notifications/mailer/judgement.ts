/** How long a judgement counts as made right now: less than a dialogue with a mail server takes. Units: ms. */
export const JUDGED_MS = 50;
/** How many are judged at once: more than a fast server takes in that time, and no more than cost little. */
export const JUDGED_COUNT = 16;

/** An e-mail that may leave, and where to. */
export interface Due {
  readonly id: number;
  readonly address: string;
}

/** Shape: `address` is left out where it may not leave. Units: `madeAt` of `performance.now()`. */
interface Verdict {
  readonly address: string | undefined;
  readonly madeAt: number;
}

/**
 * Which e-mails of one batch may leave. Judged when the batch was taken, and again when one is about to leave and its
 * judgement is older than 50 ms, together with those that are next: a fast server costs a look for 16, a slow one a look
 * a mail, however many the batch holds. Source: ADR 0171; docs/performance.md 5.9.
 */
export class Judgement {
  private looking: Promise<void> | undefined;
  private readonly verdicts: Map<number, Verdict>;
  /** Those that did not leave yet, in their order. */
  private readonly waiting: Set<number>;

  /** Shape: `due` as judged by a statement sent at `madeAt`, of `performance.now()`; `judge` asks again about some. */
  constructor(
    due: readonly Due[],
    madeAt: number,
    private readonly judge: (ids: readonly number[]) => Promise<readonly Due[]>,
  ) {
    this.verdicts = new Map(due.map(({ id, address }) => [id, { address, madeAt }]));
    this.waiting = new Set(this.verdicts.keys());
  }

  /** Errors: those of `judge`; a plain Error when it would go elsewhere now, so that it is made anew. */
  async isDue({ id, address }: Due): Promise<boolean> {
    const askedAt = performance.now();
    let verdict = this.verdicts.get(id);
    while (verdict === undefined || verdict.madeAt < askedAt - JUDGED_MS) {
      this.looking ??= this.look(id).finally(() => (this.looking = undefined));
      await this.looking;
      verdict = this.verdicts.get(id);
    }
    this.waiting.delete(id);
    if (verdict.address !== undefined && verdict.address !== address)
      throw new Error('its recipient has another address now');
    return verdict.address !== undefined;
  }

  private async look(id: number): Promise<void> {
    const ids = this.next(id);
    const madeAt = performance.now();
    const due = new Map((await this.judge(ids)).map((one) => [one.id, one.address]));
    for (const one of ids) this.verdicts.set(one, { address: due.get(one), madeAt });
  }

  /** Shape: it, and the first that wait. */
  private next(id: number): number[] {
    const ids = [id];
    for (const one of this.waiting) {
      if (ids.length === JUDGED_COUNT) break;
      if (one !== id) ids.push(one);
    }
    return ids;
  }
}
