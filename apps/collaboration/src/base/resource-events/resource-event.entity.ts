import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

export type ResourceState = 'closed' | 'merged' | 'reopened';

/** A noteable was closed, merged or reopened. Source: reference work-tracking 2.8. */
@Entity('resource_state_events')
@Check('ck_resource_state_events_state', `state in ('closed', 'merged', 'reopened')`)
@Index('ix_resource_state_events_noteable', ['noteableId', 'noteableType', 'createdAt', 'id'])
@Index('ix_resource_state_events_project_id', ['projectId'])
@Index('ix_resource_state_events_user_id', ['userId'])
export class ResourceStateEvent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_resource_state_events',
  })
  id: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  /** Project of the noteable; null for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) userId: number;
  @Column({ type: 'text' }) state: ResourceState;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
}

/** The weight of a noteable was set, changed or removed. Source: reference work-tracking 2.8. */
@Entity('resource_weight_events')
@Index('ix_resource_weight_events_noteable', ['noteableId', 'noteableType', 'createdAt', 'id'])
@Index('ix_resource_weight_events_project_id', ['projectId'])
@Index('ix_resource_weight_events_user_id', ['userId'])
export class ResourceWeightEvent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_resource_weight_events',
  })
  id: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  /** Project of the noteable; null for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) userId: number;
  /** The new weight; null if it was removed. */
  @Column({ type: 'integer', nullable: true }) weight: number | null;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
}
