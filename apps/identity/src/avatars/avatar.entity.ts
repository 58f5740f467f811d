import { Check, Column, Entity, ForeignKey, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** The avatar of one user, group, project or topic. */
@Entity('avatars')
@Check('ck_avatars_one', 'num_nonnulls(user_id, namespace_id, project_id, topic_id) = 1')
@Unique('uq_avatars_user_id', ['userId'])
@Unique('uq_avatars_namespace_id', ['namespaceId'])
@Unique('uq_avatars_project_id', ['projectId'])
@Unique('uq_avatars_topic_id', ['topicId'])
export class Avatar {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_avatars',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_avatars_user_id', onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
  @Column({ type: 'bigint', nullable: true })
  userId: number | null;
  @ForeignKey('namespaces', { name: 'fk_avatars_namespace_id', onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @ForeignKey('projects', { name: 'fk_avatars_project_id', onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
  @ForeignKey('topics', { name: 'fk_avatars_topic_id', onDelete: 'CASCADE', deferrable: 'INITIALLY DEFERRED' })
  @Column({ type: 'bigint', nullable: true })
  topicId: number | null;
  @Column({ type: 'text' }) filename: string;
  @Column({ type: 'text' }) mediaType: string;
  /** Hex SHA-256 of the content. */
  @Column({ type: 'text' }) digest: string;
  @Column({ type: 'bytea' }) bytes: Buffer;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
