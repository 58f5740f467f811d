import type { NoteableType } from '@rookery/contracts';
import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Explicit subscription of a user to a noteable, or an unsubscription. Source: reference work-tracking 9.7. */
@Entity('subscriptions')
@Index('ix_subscriptions_user_id', ['userId'])
@Index('ix_subscriptions_project_id', ['projectId'], { where: 'project_id is not null' })
export class Subscription {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_subscriptions' }) noteableType: NoteableType;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_subscriptions' }) noteableId: number;
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_subscriptions' }) userId: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  /** False for an unsubscription. */
  @Column({ type: 'boolean' }) subscribed: boolean;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
