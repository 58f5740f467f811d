import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** An event of this service, kept 7 days after publishing. Source: reference reliability 2.1, 2.6. */
@Entity('outbox')
@Index('ix_outbox_unpublished', ['id'], { where: 'published_at is null' })
@Unique('uq_outbox_event_id', ['eventId'])
export class OutboxEntry {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', primaryKeyConstraintName: 'pk_outbox' }) id: number;
  @Column({ type: 'uuid' }) eventId: string;
  @Column({ type: 'text' }) aggregateType: string;
  @Column({ type: 'bigint' }) aggregateId: number;
  @Column({ type: 'text' }) subject: string;
  @Column({ type: 'text' }) type: string;
  @Column({ type: 'timestamptz', precision: 3 }) occurredAt: Date;
  @Column({ type: 'bigint', nullable: true }) actorId: number | null;
  @Column({ type: 'text', nullable: true }) traceparent: string | null;
  @Column({ type: 'jsonb' }) payload: unknown;
  /** The position in the directory that the event's cause had seen. */
  @Column({ type: 'bigint', nullable: true }) directoryVersion: number | null;
  @Column({ type: 'text', nullable: true }) directoryEpoch: string | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) publishedAt: Date | null;
  @Column({ type: 'integer', default: 0 }) attempts: number;
  @Column({ type: 'text', nullable: true }) lastError: string | null;
  /** When it was marked to be sent again, in ms since 1970; 0 before. Part of the message's id. */
  @Column({ type: 'bigint', default: 0 }) generation: number;
}

/** An event that an effect has processed, kept 14 days. Source: reference reliability 2.3. */
@Entity('inbox')
@Index('ix_inbox_received_at', { synchronize: false })
class InboxEntry {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_inbox' }) effect: string;
  @PrimaryColumn({ type: 'uuid', primaryKeyConstraintName: 'pk_inbox' }) eventId: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) receivedAt: Date;
}

/** An event whose effect failed, or a job: counted while it is tried again, then kept for an operator. Source: ADR 0025. */
@Entity('dead_letters')
@Check('ck_dead_letters_kind', `kind in ('event', 'job')`)
@Check('ck_dead_letters_reason', `reason in ('failed', 'undecodable', 'unknown_version')`)
@Check('ck_dead_letters_state', `state in ('retrying', 'open', 'replaying', 'replayed', 'discarded')`)
@Index('ix_dead_letters_replaying', ['id'], { where: `state = 'replaying'` })
@Index('uq_dead_letters_effect_event_key', ['effect', 'eventKey'], {
  unique: true,
  where: `state in ('retrying', 'open', 'replaying')`,
})
export class DeadLetter {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', primaryKeyConstraintName: 'pk_dead_letters' }) id: number;
  @Column({ type: 'text', default: 'event' }) kind: 'event' | 'job';
  /** The effect of an event, or the name of a job. */
  @Column({ type: 'text' }) effect: string;
  @Column({ type: 'text' }) eventKey: string;
  @Column({ type: 'uuid', nullable: true }) eventId: string | null;
  @Column({ type: 'text' }) subject: string;
  @Column({ type: 'jsonb', default: {} }) headers: Record<string, string>;
  @Column({ type: 'text' }) body: string;
  @Column({ type: 'text' }) state: 'retrying' | 'open' | 'replaying' | 'replayed' | 'discarded';
  @Column({ type: 'text' }) reason: 'failed' | 'undecodable' | 'unknown_version';
  @Column({ type: 'text' }) error: string;
  @Column({ type: 'integer', default: 1 }) attempts: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) firstFailedAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) lastFailedAt: Date;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) settledAt: Date | null;
  @Column({ type: 'text', nullable: true }) settledBy: string | null;
  @Column({ type: 'text', nullable: true }) settledReason: string | null;
}

/** The last number given out in a scope. Source: reference reliability 5. */
@Entity('internal_ids')
@Check('ck_internal_ids_last_value', 'last_value > 0')
class InternalIdCounter {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_internal_ids' }) usage: string;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_internal_ids' }) scopeId: number;
  @Column({ type: 'bigint' }) lastValue: number;
}

/**
 * Identifies the database, so that a restored one is recognized: one row. Source: docs/reference/reliability.md 2.6.
 */
@Entity('database_history')
@Check('ck_database_history_single', 'id')
class DatabaseHistoryMarker {
  @PrimaryColumn({ type: 'boolean', default: true, primaryKeyConstraintName: 'pk_database_history' }) id: boolean;
  /** Empty before the first process, and when the operator of a restore declares that nothing was lost. */
  @Column({ type: 'text', default: '' }) history: string;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) seenAt: Date | null;
  /** The last event of a lost history that was found in the stream. */
  @Column({ type: 'text', nullable: true }) answered: string | null;
}

/**
 * The outcome of a write with an idempotency key, kept a day: the answer is encrypted, and null once it is dropped.
 * Source: docs/reference/reliability.md 5.
 */
@Entity('idempotency_keys')
@Index('ix_idempotency_keys_created_at', { synchronize: false })
export class IdempotencyKey {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_idempotency_keys' }) userId: number;
  /** The user who acted in the user's name; 0 for none. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_idempotency_keys' }) actorId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_idempotency_keys' }) key: string;
  @Column({ type: 'bigint', nullable: true }) tokenId: number | null;
  /** A keyed hash of the request, so that its content cannot be found by trying. */
  @Column({ type: 'bytea' }) request: Buffer;
  @Column({ type: 'bytea', nullable: true }) answer: Buffer | null;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) answerUntil: Date;
}

/**
 * Tables that every service has. TypeORM reads and writes none of them: the statements that write them are measured.
 * The classes state the columns for `RowOf` and for the comparison with the migrated schema.
 */
export const plumbingEntities = [
  OutboxEntry,
  InboxEntry,
  DeadLetter,
  InternalIdCounter,
  DatabaseHistoryMarker,
  IdempotencyKey,
];
