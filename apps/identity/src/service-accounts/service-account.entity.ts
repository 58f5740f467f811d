import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/** Marks a user as a service account, of a top-level group or (null) of the instance. */
@Entity('service_accounts')
@Index('ix_service_accounts_group_id', ['groupId', 'userId'])
export class ServiceAccount {
  @ForeignKey('users', { name: 'fk_service_accounts_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_service_accounts' })
  userId: number;
  @ForeignKey('namespaces', { name: 'fk_service_accounts_group_id', onDelete: 'SET NULL' })
  @Column({ type: 'bigint', nullable: true })
  groupId: number | null;
}
