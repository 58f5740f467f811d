import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Package } from '../package.entity';
import type { PackageType } from '../package-types';

/** A tag that names one version of a package. Source: reference packages-and-admin 3.1, 4.4. */
@Entity('package_tags')
@Check('ck_package_tags_name', 'char_length(name) <= 255')
@Unique('uq_package_tags_name', ['projectId', 'packageType', 'nameKey', 'name'])
@Index('ix_package_tags_package_id', ['packageId'])
export class PackageTag {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_package_tags',
  })
  id: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Package, { name: 'fk_package_tags_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) packageType: PackageType;
  /** `nameKeyOf` of the name of the package: a tag names one version of it. */
  @Column({ type: 'text' }) nameKey: string;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
