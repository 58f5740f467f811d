import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A text of a user, group or project, identified by its key. */
@Entity('custom_attributes')
@Check('ck_custom_attributes_one', 'num_nonnulls(user_id, namespace_id, project_id) = 1')
@Unique('uq_custom_attributes_namespace_id_key', ['namespaceId', 'key'])
@Unique('uq_custom_attributes_project_id_key', ['projectId', 'key'])
@Unique('uq_custom_attributes_user_id_key', ['userId', 'key'])
@Index('ix_custom_attributes_key_value', { synchronize: false })
export class CustomAttribute {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_custom_attributes',
  })
  id: number;
  @ForeignKey('users', { name: 'fk_custom_attributes_user_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  userId: number | null;
  @ForeignKey('namespaces', { name: 'fk_custom_attributes_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @ForeignKey('projects', { name: 'fk_custom_attributes_project_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  projectId: number | null;
  @Column({ type: 'text' }) key: string;
  @Column({ type: 'text' }) value: string;
}
