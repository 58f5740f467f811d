import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { Package } from '../../packages/package.entity';

/**
 * The commit that a version of a Go module has for ever, because clients keep digests of its files. Source: reference
 * packages-and-admin 4.12.
 */
@Entity('go_versions')
@Check('ck_go_versions_version', 'char_length(version) <= 255')
@Unique('uq_go_versions_version', ['projectId', 'moduleName', 'version'])
export class GoVersion {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_go_versions' })
  @ForeignKey(() => Package, { name: 'fk_go_versions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) moduleName: string;
  @Column({ type: 'text' }) version: string;
  /** Full id of the commit. */
  @Column({ type: 'text' }) targetSha: string;
}
