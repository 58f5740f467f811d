import type { ImportType } from '@rookery/contracts';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';

/**
 * An account that owns the content of a user of another host, in one top-level group. The row without a group, host and
 * upstream user is the import user, which owns all imported objects of personal namespaces. Source: reference
 * identity-and-import 6.7.
 */
@Entity('placeholder_users')
@Check('ck_placeholder_users_import_user', '(namespace_id is null) = (upstream_id is null)')
@Index('uq_placeholder_users_person', ['namespaceId', 'source', 'host', 'upstreamId'], {
  unique: true,
  where: 'namespace_id is not null',
})
@Index('uq_placeholder_users_import_user', { synchronize: false })
export class PlaceholderUser {
  @ForeignKey('users', { name: 'fk_placeholder_users_user_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_placeholder_users' })
  userId: number;
  /** The top-level group. */
  @ForeignKey('namespaces', { name: 'fk_placeholder_users_namespace_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint', nullable: true })
  namespaceId: number | null;
  @Column({ type: 'text', nullable: true }) source: ImportType | null;
  @Column({ type: 'text', nullable: true }) host: string | null;
  @Column({ type: 'bigint', nullable: true }) upstreamId: number | null;
}
