import { Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { ActivityAction } from './activity-types';
import type { PushData } from './push-entries';

/**
 * An entry of a feed. Access depends on `noteable`: the target itself, or the noteable of a note.
 * Source: ADR 0080.
 */
@Entity('activity_events')
@Index('uq_activity_events_source_event_id', ['sourceEventId', 'action'], { unique: true })
@Index('ix_activity_events_author_id', { synchronize: false })
@Index('ix_activity_events_project_id', { synchronize: false })
@Index('ix_activity_events_noteable', ['noteableId', 'noteableType', 'targetId'])
export class ActivityEvent {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_activity_events',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) action: ActivityAction;
  @Column({ type: 'text', nullable: true }) targetType: string | null;
  @Column({ type: 'bigint', nullable: true }) targetId: number | null;
  @Column({ type: 'text', nullable: true }) noteableType: string | null;
  @Column({ type: 'bigint', nullable: true }) noteableId: number | null;
  @Column({ type: 'uuid' }) sourceEventId: string;
  /** Set for pushes. */
  @Column({ type: 'jsonb', nullable: true }) pushData: PushData | null;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
}
