/**
 * A write that its sender gave a name, so that it is done once however often it is sent.
 * Shape: `key` is unique for the caller: who asks, and who acts in their name (0 for nobody). `request` is a digest of
 * what is asked: method, path, query and body.
 */
export interface KeyedWrite {
  readonly key: string;
  readonly userId: number;
  readonly actorId: number;
  readonly tokenId: number | null;
  readonly request: Buffer;
}

/** An answer as it was given first. Shape: `headers` are names and values in turn; `body` is JSON text, null for none. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string | null;
}

/** An answer that is about to be given. Shape: one with a secret in it, which is shown this once, is not kept for long. */
export interface NewAnswer extends KeptAnswer {
  readonly hasSecret: boolean;
}

/**
 * Remembers what came of keyed writes. Errors: Unprocessable for a key that was used for another request, and for one
 * whose answer is not kept any more. Source: docs/reference/reliability.md 5.
 */
export interface KeyedWrites {
  /** What was answered before; null when there was no such write yet. */
  answered(write: KeyedWrite): Promise<KeptAnswer | null>;
  /**
   * Does it in one transaction with its answer, unless that was done meanwhile. A refusal that nothing was written
   * before is not kept, and thrown. Shape: `refused` makes the answer of an error; null for what ends the whole.
   * Errors: KeyInUse while the same write is being done; those of `make`.
   */
  once(
    write: KeyedWrite,
    make: () => Promise<NewAnswer>,
    refused: (error: unknown) => NewAnswer | null,
  ): Promise<{ readonly answer: KeptAnswer; readonly isReplay: boolean }>;
}

/** Injection token of KeyedWrites; a service without a database of its own has none. */
export const KEYED_WRITES: unique symbol = Symbol('KeyedWrites');
