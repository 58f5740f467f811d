/**
 * A write with an idempotency key, which is done once however often it is sent. `key` is unique for a pair of user and
 * acting user (`actorId`, 0 for none). `request` is a digest of the request: method, path, query and body.
 */
export interface KeyedWrite {
  readonly key: string;
  readonly userId: number;
  readonly actorId: number;
  readonly tokenId: number | null;
  readonly request: Buffer;
}

/** A stored answer. `headers` are alternating names and values. `body` is JSON text, or null for no body. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | null;
}

/** An answer that is about to be sent. One with a one-time secret is stored only briefly. */
export interface NewAnswer extends KeptAnswer {
  readonly hasSecret: boolean;
}

/**
 * Stores outcomes of writes with idempotency keys. Errors: Unprocessable for a key that was used for another request,
 * and for one whose answer is no longer stored. Source: docs/reference/reliability.md 5.
 */
export interface KeyedWrites {
  /** Returns the stored answer; null if there was no such write yet. */
  findAnswer(write: KeyedWrite): Promise<KeptAnswer | null>;
  /**
   * Runs the write in one transaction with its answer, unless it was done meanwhile. A refusal before any write is
   * thrown and not stored. `refused` converts an error to an answer, or returns null for an error that ends the
   * transaction.
   * Errors: IdempotencyKeyInUse while the same write is running; those of `make`.
   */
  writeOnce(
    write: KeyedWrite,
    make: () => Promise<NewAnswer>,
    refused: (error: unknown) => NewAnswer | null,
  ): Promise<{ readonly answer: KeptAnswer; readonly isReplay: boolean }>;
}

/** Injection token of KeyedWrites; a service without a database of its own has none. */
export const KEYED_WRITES: unique symbol = Symbol('KeyedWrites');
