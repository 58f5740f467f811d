import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

export type ResourceType = 'group' | 'project';

/** A token of a person or a bot. The secret itself is never kept. */
@Entity('access_tokens')
export class AccessToken {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' }) id: number;
  @Column('bigint') user_id: number;
  @Column('text') name: string;
  @Column('text', { nullable: true }) description: string | null;
  @Column('bytea', { select: false }) digest: Buffer;
  @Column('text', { array: true }) scopes: string[];
  @Column('boolean') impersonation: boolean;
  @Column('date', { nullable: true }) expires_on: string | null;
  @Column('boolean') revoked: boolean;
  @Column('timestamptz', { nullable: true }) last_used_at: Date | null;
  /** Newest first. */
  @Column('text', { array: true }) last_used_ips: string[];
  @Column('bigint', { nullable: true }) previous_token_id: number | null;
  /** Id of the first token of the chain of rotations. */
  @Column('bigint') family_id: number;
  @Column('bigint', { nullable: true }) created_by_id: number | null;
  /** The group or project whose bot holds it; null for tokens of people and service accounts. */
  @Column('text', { nullable: true }) resource_type: ResourceType | null;
  @Column('bigint', { nullable: true }) resource_id: number | null;
  /** The level with which the bot was made a member. */
  @Column('integer', { nullable: true }) access_level: number | null;
  @Column('timestamptz') created_at: Date;
  @Column('timestamptz') updated_at: Date;
}
