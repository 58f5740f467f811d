import { assertAllUsed, lengthProblems, keepFieldsWithProblems, Refused } from '@rookery/kernel';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { NewSecret } from './trigger-secrets';

/** Fields of a trigger token. An omitted field keeps its value. */
export interface PipelineTriggerInput {
  readonly description?: string;
  readonly expires_at?: Date | null;
}

/** Properties that a new trigger token gets without being sent. */
export interface NewTrigger {
  readonly projectId: number;
  readonly ownerId: number;
  readonly secret: NewSecret;
  readonly now: Date;
  /** Longest lifetime. Units: days. */
  readonly maxDays: number;
}

const DAY_MS = 86_400_000;

/** A token that starts pipelines of a project as its owner. Source: requirements 2 §2 Trigger token. */
@Entity('pipeline_triggers')
@Check('ck_pipeline_triggers_description', 'char_length(description) <= 255')
@Check('ck_pipeline_triggers_digest', 'octet_length(digest) = 32')
@Index('ix_pipeline_triggers_project_id', ['projectId', 'id'])
@Unique('uq_pipeline_triggers_digest', ['digest'])
export class PipelineTrigger {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_pipeline_triggers',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) ownerId: number;
  @Column({ type: 'text' }) description: string;
  /** SHA-256 of the token, by which a request finds it. */
  @Column({ type: 'bytea' }) digest: Buffer;
  /** The token for its owner, encrypted (`TriggerSecrets`). */
  @Column({ type: 'bytea' }) sealedToken: Buffer;
  /** The first characters of the token, for other maintainers. */
  @Column({ type: 'text' }) tokenStart: string;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) lastUsed: Date | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) expiresAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: Refused with the problems as JSON. */
  static create(input: PipelineTriggerInput & { readonly description: string }, made: NewTrigger): PipelineTrigger {
    const { description, expires_at: expiresAt = null, ...rest } = input;
    assertAllUsed(rest);
    const { projectId, ownerId, secret, now } = made;
    const last = new Date(now.getTime() + made.maxDays * DAY_MS);
    const isTooLate = expiresAt !== null && expiresAt > last;
    refuseInvalidTriggerFields({
      description: lengthProblems(description, 255),
      expires_at: isTooLate ? [`must be before ${last.toISOString().slice(0, 10)}`] : [],
    });
    const times = { lastUsed: null, expiresAt, createdAt: now, updatedAt: now };
    return Object.assign(new PipelineTrigger(), { projectId, ownerId, description, ...secret, ...times });
  }

  /** Changes the description. Errors: Refused with the problems as JSON. */
  change({ description }: Pick<PipelineTriggerInput, 'description'>, now: Date): void {
    if (description === undefined) return;
    refuseInvalidTriggerFields({ description: lengthProblems(description, 255) });
    this.description = description;
    this.updatedAt = now;
  }
}

/** Source: reference identity-and-import 7.1. */
function refuseInvalidTriggerFields(problemsOfFields: Readonly<Record<string, readonly string[]>>): void {
  const problems = keepFieldsWithProblems(problemsOfFields);
  if (Object.keys(problems).length > 0) throw new Refused(JSON.stringify(problems));
}
