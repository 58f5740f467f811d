import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { TodoAction, TodoState, TodoTargetType } from './todo-actions';

/** A to-do of a user, pending or done. Source: requirements 1 §2 To-do item; ADR 0080. */
@Entity('todos')
@Check('ck_todos_state', `state in ('pending', 'done')`)
@Index('uq_todos_source_event_id', ['sourceEventId', 'userId', 'action'], { unique: true })
@Index('uq_todos_named', { synchronize: false })
@Index('uq_todos_pending', ['userId', 'targetType', 'targetId', 'action'], {
  unique: true,
  where: `state = 'pending' and action not in ('mentioned', 'directly_addressed', 'member_access_requested')`,
})
@Index('ix_todos_user_id_pending', { synchronize: false })
@Index('ix_todos_user_id_done', { synchronize: false })
@Index('ix_todos_target', ['projectId', 'targetId', 'targetType', 'userId'])
@Index('ix_todos_of_groups', ['userId', 'state'], { where: 'project_id is null' })
@Index('ix_todos_author_id', ['authorId'])
@Index('ix_todos_group_id', ['groupId'], { where: 'group_id is not null' })
export class Todo {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'ALWAYS',
    primaryKeyConstraintName: 'pk_todos',
  })
  id: number;
  @Column({ type: 'bigint' }) userId: number;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) action: TodoAction;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  /** Set in place of the project for noteables of groups. */
  @Column({ type: 'bigint', nullable: true }) groupId: number | null;
  @Column({ type: 'text' }) targetType: TodoTargetType;
  @Column({ type: 'bigint' }) targetId: number;
  /** The note that raised it; null if the target itself did. */
  @Column({ type: 'bigint', nullable: true }) noteId: number | null;
  @Column({ type: 'uuid' }) sourceEventId: string;
  @Column({ type: 'text', default: 'pending' }) state: TodoState;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) updatedAt: Date;
}
