import type { RowOf } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

export type ResourceType = 'group' | 'project';

/** A token of a user or bot. The secret itself is never stored. */
@Entity('access_tokens')
@Check('ck_access_tokens_digest', 'octet_length(digest) = 32')
@Check('ck_access_tokens_last_used_ips', 'cardinality(last_used_ips) <= 5')
@Check('ck_access_tokens_notices_sent', 'notices_sent between 0 and 4')
@Check(
  'ck_access_tokens_resource',
  `(resource_type is null and resource_id is null and access_level is null)
    or (resource_type in ('group', 'project') and resource_id is not null and access_level is not null)`,
)
@Index('ix_access_tokens_created_by_id', ['createdById'])
@Index('ix_access_tokens_family_id', ['familyId'], { where: 'not revoked' })
@Index('ix_access_tokens_next_notice', { synchronize: false })
@Index('ix_access_tokens_resource', ['resourceType', 'resourceId', 'id'], { where: 'resource_id is not null' })
@Index('ix_access_tokens_user_id', ['userId', 'id'])
@Unique('uq_access_tokens_digest', ['digest'])
@Unique('uq_access_tokens_previous_token_id', ['previousTokenId'])
export class AccessToken {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_access_tokens',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_access_tokens_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  userId: number;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'bytea', select: false }) digest: Buffer;
  @Column({ type: 'text', array: true }) scopes: string[];
  @Column({ type: 'boolean', default: false }) impersonation: boolean;
  @Column({ type: 'date', nullable: true }) expiresOn: string | null;
  @Column({ type: 'boolean', default: false }) revoked: boolean;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) lastUsedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) previousTokenId: number | null;
  /** Id of the first token in the chain of rotations. */
  @Column({ type: 'bigint' }) familyId: number;
  @ForeignKey('users', { name: 'fk_access_tokens_created_by_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  createdById: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
  /** The group or project of the bot that holds the token. Null for tokens of users and service accounts. */
  @Column({ type: 'text', nullable: true }) resourceType: ResourceType | null;
  @Column({ type: 'bigint', nullable: true }) resourceId: number | null;
  /** Access level with which the bot was made a member. */
  @Column({ type: 'integer', nullable: true }) accessLevel: number | null;
  /** Number of expiry notices that were sent or are not due any more. */
  @Column({ type: 'smallint', default: 0 }) noticesSent: number;
  /** Newest first. */
  @Column({ type: 'text', array: true, default: [] }) lastUsedIps: string[];
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) ipsChangedAt: Date | null;
}

/** Columns of a token that statements read: never the digest. */
type AccessTokenRecord = RowOf<AccessToken, Exclude<keyof AccessToken, 'digest' | 'noticesSent' | 'ipsChangedAt'>>;

/** A token, as statements read it. */
export interface TokenRow extends AccessTokenRecord {
  readonly active: boolean;
}
/** A new token. Its secret is shown only this once. */
export interface NewTokenRow extends TokenRow {
  readonly token: string;
}
