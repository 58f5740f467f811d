/** How long a check counts as current: less than a dialogue with a mail server takes. Units: ms. */
export const CHECK_VALID_MS = 50;
/** E-mails that one check covers: more than a fast server accepts in that time, and cheap to check together. */
export const CHECK_COUNT = 16;

/** An e-mail that may be sent, and its recipient's address. */
export interface DueRecipient {
  readonly id: number;
  readonly address: string;
}

/**
 * Result of a check. `address` is undefined for an e-mail that may not be sent. Units: `checkedAt` of
 * `performance.now()`.
 */
interface CheckResult {
  readonly address: string | undefined;
  readonly checkedAt: number;
}

/**
 * Decides which e-mails of one batch may still be sent. They are checked when the batch is taken. An e-mail is checked
 * again right before it is sent if its last check is older than 50 ms, together with the next ones of the batch. A fast
 * server costs one query for 16 e-mails and a slow one a query for each, whatever the size of the batch.
 * Source: ADR 0171; docs/performance.md 5.9.
 */
export class DueMailChecker {
  private checking: Promise<void> | undefined;
  private readonly results: Map<number, CheckResult>;
  /** E-mails that are not sent yet, in their order. */
  private readonly waiting: Set<number>;

  /**
   * `due` is the result of a statement that was sent at `checkedAt`, a time of `performance.now()`. `check` reads some
   * of these rows again.
   */
  constructor(
    due: readonly DueRecipient[],
    checkedAt: number,
    private readonly check: (ids: readonly number[]) => Promise<readonly DueRecipient[]>,
  ) {
    this.results = new Map(due.map(({ id, address }) => [id, { address, checkedAt }]));
    this.waiting = new Set(this.results.keys());
  }

  /** Errors: those of `check`; a plain Error if the address has changed, so that the e-mail is composed again. */
  async isDue({ id, address }: DueRecipient): Promise<boolean> {
    const askedAt = performance.now();
    let result = this.results.get(id);
    while (result === undefined || result.checkedAt < askedAt - CHECK_VALID_MS) {
      this.checking ??= this.checkBatchWith(id).finally(() => (this.checking = undefined));
      await this.checking;
      result = this.results.get(id);
    }
    this.waiting.delete(id);
    if (result.address !== undefined && result.address !== address)
      throw new Error('its recipient has another address now');
    return result.address !== undefined;
  }

  private async checkBatchWith(id: number): Promise<void> {
    const ids = this.selectBatchWith(id);
    const checkedAt = performance.now();
    const due = new Map((await this.check(ids)).map((one) => [one.id, one.address]));
    for (const one of ids) this.results.set(one, { address: due.get(one), checkedAt });
  }

  /** Returns the given id, then the next waiting ids, up to `CHECK_COUNT` in all. */
  private selectBatchWith(id: number): number[] {
    const ids = [id];
    for (const one of this.waiting) {
      if (ids.length === CHECK_COUNT) break;
      if (one !== id) ids.push(one);
    }
    return ids;
  }
}
