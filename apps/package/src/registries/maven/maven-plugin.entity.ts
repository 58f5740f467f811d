import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { Package } from '../../packages/package.entity';

/** A plugin of a Maven group, found by its prefix. It belongs to the versionless package of the group's metadata. */
@Entity('maven_plugins')
@Check('ck_maven_plugins_artifact_id', 'char_length(artifact_id) <= 255')
@Check('ck_maven_plugins_prefix', 'char_length(prefix) <= 255')
@Check('ck_maven_plugins_name', 'char_length(name) <= 255')
export class MavenPlugin {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_maven_plugins' })
  @ForeignKey(() => Package, { name: 'fk_maven_plugins_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_maven_plugins' }) artifactId: string;
  @Column({ type: 'text' }) prefix: string;
  @Column({ type: 'text' }) name: string;
}
