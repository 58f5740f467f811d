import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { IdempotencyKeyInUse, Unprocessable } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import type { ContextSigningKeys, KeptAnswer, KeyedWrite, KeyedWrites, NewAnswer } from '@rookery/platform';
import type { Database, SqlReader } from './database';
import type { IdempotencyKey } from '../schema/plumbing.entities';
import { prepareStatement } from '../sql/prepared';
import type { RowOf } from '../sql/row-of';
import type { Tx, Work } from './work';

/** How long an answer is kept. Units: ms. */
const KEPT_MS = 24 * 60 * 60_000;
/** How long an answer with a one-time secret is kept. Units: ms. */
const SECRET_KEPT_MS = 10 * 60_000;

const FIND = prepareStatement(
  'idempotency_find',
  `select request, case when answer_until > $5 then answer end as answer from idempotency_keys
   where user_id = $1 and actor_id = $2 and key = $3 and created_at > $4`,
);
/** Held until the transaction ends in any way, so a process that dies leaves no lock. It never waits. */
const HOLD = prepareStatement('idempotency_hold', 'select pg_try_advisory_xact_lock($1::bigint) as is_held');
const KEEP = prepareStatement(
  'idempotency_keep',
  `insert into idempotency_keys (user_id, actor_id, key, token_id, request, answer, created_at, answer_until)
   values ($1, $2, $3, $4, $5, $6, $7, $8)
   on conflict (user_id, actor_id, key) do update set token_id = excluded.token_id, request = excluded.request,
     answer = excluded.answer, created_at = excluded.created_at, answer_until = excluded.answer_until`,
);

const OTHER_REQUEST = 'Idempotency-Key was used for another request';
const NOT_KEPT = 'Idempotency-Key was used, and the answer held a secret that is not kept any more';

/**
 * Outcomes of writes with idempotency keys. The row commits with the write and contains the answer: after a commit in
 * doubt, a lost answer or the end of a process, the row proves that the write happened, and its absence that it did
 * not. A running write holds an advisory lock and no row, so nothing has to be cleaned up after writes that never
 * finished.
 *
 * Answers are encrypted by a key that is not in the database, and requests are hashed by another, so that a stolen copy
 * reveals neither tokens nor passwords. Source: docs/reference/reliability.md 5.
 */
export class IdempotencyKeys implements KeyedWrites {
  private keys: { readonly seals: readonly [Buffer, ...Buffer[]]; readonly marks: readonly Buffer[] } | null = null;

  constructor(
    private readonly work: Work,
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly context: ContextSigningKeys,
    private readonly service: string,
  ) {}

  findAnswer(write: KeyedWrite): Promise<KeptAnswer | null> {
    return this.readAnswer(write, this.database);
  }

  writeOnce(
    write: KeyedWrite,
    make: () => Promise<NewAnswer>,
    refused: (error: unknown) => NewAnswer | null,
  ): Promise<{ readonly answer: KeptAnswer; readonly isReplay: boolean }> {
    return this.work.runInOneTransaction(async (tx, outer) => {
      const [hold] = await tx.prepared<{ is_held: boolean }>(HOLD, [idempotencyAdvisoryLockId(write)]);
      if (!hold?.is_held) throw new IdempotencyKeyInUse();
      const known = await this.readAnswer(write, tx);
      if (known) return { answer: known, isReplay: true };
      const answer = await make().catch((error: unknown) => {
        const refusal = outer.hasWritten ? refused(error) : null;
        if (refusal === null) throw error;
        return refusal;
      });
      await this.insertAnswer(tx, write, answer);
      return { answer, isReplay: false };
    });
  }

  private async readAnswer(write: KeyedWrite, reads: Pick<SqlReader, 'run'>): Promise<KeptAnswer | null> {
    const now = this.clock.now();
    const since = new Date(now.getTime() - KEPT_MS);
    const values = [write.userId, write.actorId, write.key, since, now];
    const [row] = await reads.run<RowOf<IdempotencyKey, 'request' | 'answer'>>({ ...FIND, values });
    if (!row) return null;
    const isSame = this.hashRequest(write).some((mark) => timingSafeEqual(mark, row.request));
    if (!isSame) throw new Unprocessable(OTHER_REQUEST);
    const answer = row.answer && this.openAnswer(row.answer, write);
    if (!answer) throw new Unprocessable(NOT_KEPT);
    return answer;
  }

  private async insertAnswer(tx: Tx, write: KeyedWrite, { hasSecret, ...answer }: NewAnswer): Promise<void> {
    const { userId, actorId, key, tokenId } = write;
    const now = this.clock.now();
    const until = new Date(now.getTime() + (hasSecret ? SECRET_KEPT_MS : KEPT_MS));
    const [mark] = this.hashRequest(write);
    await tx.prepared(KEEP, [userId, actorId, key, tokenId, mark, this.sealAnswer(answer, write), now, until]);
  }

  /** Encrypts an answer. Returns nonce, tag and ciphertext. */
  private sealAnswer({ status, headers, body }: KeptAnswer, write: KeyedWrite): Buffer {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.derivedKeys.seals[0], nonce).setAAD(idempotencyKeyBytes(write));
    const text = Buffer.concat([cipher.update(JSON.stringify([status, headers, body])), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), text]);
  }

  /** Decrypts an answer; null if its key was removed. */
  private openAnswer(sealed: Buffer, write: KeyedWrite): KeptAnswer | null {
    for (const key of this.derivedKeys.seals) {
      try {
        const cipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12)).setAAD(idempotencyKeyBytes(write));
        cipher.setAuthTag(sealed.subarray(12, 28));
        const text = Buffer.concat([cipher.update(sealed.subarray(28)), cipher.final()]).toString();
        const [status, headers, body] = JSON.parse(text) as [number, string[], string | null];
        return { status, headers, body };
      } catch {
        // Encrypted by another key: the next one is tried.
      }
    }
    return null;
  }

  /** The keyed hashes of a request, one for each configured key; the first is that of the current key. */
  private hashRequest({ request }: KeyedWrite): Buffer[] {
    return this.derivedKeys.marks.map((key) => createHmac('sha256', key).update(request).digest());
  }

  private get derivedKeys() {
    return (this.keys ??= {
      seals: this.context.deriveKeys('rookery idempotency answers', this.service),
      marks: this.context.deriveKeys('rookery idempotency requests', this.service),
    });
  }
}

function idempotencyKeyBytes({ userId, actorId, key }: KeyedWrite): Buffer {
  return Buffer.from(`${userId}:${actorId}:${key}`);
}

function idempotencyAdvisoryLockId(write: KeyedWrite): bigint {
  return createHash('sha256').update('idempotency:').update(idempotencyKeyBytes(write)).digest().readBigInt64BE();
}
