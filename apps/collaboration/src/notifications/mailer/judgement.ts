/** How long a judgement counts as made right now: less than a dialogue with a mail server takes. Units: ms. */
export const JUDGED_MS = 50;

/** An e-mail that may leave, and where to. */
export interface Due {
  readonly id: number;
  readonly address: string;
}

/**
 * Which e-mails of one batch may leave. Judged when the batch was taken, and again for the whole batch when one is about
 * to leave and the last judgement is older than 50 ms: a fast server costs no second look, a slow one a look a mail at
 * most. Source: ADR 0171; docs/performance.md 2.
 */
export class Judgement {
  private looking: Promise<void> | undefined;
  private addresses: ReadonlyMap<number, string>;

  /** Shape: `due` as judged by a statement sent at `madeAt`, of `performance.now()`; `judge` asks again. */
  constructor(
    due: readonly Due[],
    private madeAt: number,
    private readonly judge: () => Promise<readonly Due[]>,
  ) {
    this.addresses = addressesOf(due);
  }

  /** Errors: those of `judge`; a plain Error when it would go elsewhere now, so that it is made anew. */
  async isDue({ id, address }: Due): Promise<boolean> {
    const askedAt = performance.now();
    while (this.madeAt < askedAt - JUDGED_MS) {
      this.looking ??= this.look().finally(() => (this.looking = undefined));
      await this.looking;
    }
    const now = this.addresses.get(id);
    if (now !== undefined && now !== address) throw new Error('its recipient has another address now');
    return now !== undefined;
  }

  private async look(): Promise<void> {
    const sentAt = performance.now();
    this.addresses = addressesOf(await this.judge());
    this.madeAt = sentAt;
  }
}

function addressesOf(due: readonly Due[]): ReadonlyMap<number, string> {
  return new Map(due.map(({ id, address }) => [id, address]));
}
