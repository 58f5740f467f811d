import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Package } from '../../packages/package.entity';

/** The commit and the description of a version of a Composer package. Source: reference packages-and-admin 4.11. */
@Entity('composer_versions')
@Check('ck_composer_versions_description', 'char_length(description) <= 65536')
@Index('ix_composer_versions_target_sha', ['projectId', 'targetSha'])
export class ComposerVersion {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_composer_versions' })
  @ForeignKey(() => Package, { name: 'fk_composer_versions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** Full id of the commit. */
  @Column({ type: 'text' }) targetSha: string;
  /** The file composer.json as JSON in one line. PostgreSQL's own type cannot hold every text of JSON. */
  @Column({ type: 'text' }) description: string;
}
