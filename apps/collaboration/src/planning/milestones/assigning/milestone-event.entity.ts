import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/**
 * Event: a milestone was added to or removed from a noteable. The milestone may have been deleted. Source: reference
 * work-tracking 2.8.
 */
@Entity('resource_milestone_events')
@Check('ck_resource_milestone_events_action', `action in ('add', 'remove')`)
@Index('ix_resource_milestone_events_noteable', ['noteableId', 'noteableType', 'createdAt', 'id'])
@Index('ix_resource_milestone_events_milestone_id', ['milestoneId'])
@Index('ix_resource_milestone_events_project_id', ['projectId'])
@Index('ix_resource_milestone_events_user_id', ['userId'])
export class ResourceMilestoneEvent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_resource_milestone_events',
  })
  id: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  /** Project of the noteable; null for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) userId: number;
  @Column({ type: 'bigint' }) milestoneId: number;
  @Column({ type: 'text' }) action: 'add' | 'remove';
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
}
