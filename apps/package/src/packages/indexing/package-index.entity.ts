import { Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { PackageType } from '../package-types';

/**
 * The documents that package managers read about one name in one project. Its generation distinguishes their states.
 * Source: reference packages-and-admin 4.4.
 */
@Entity('package_indexes')
@Index('ix_package_indexes_name_key', ['packageType', 'nameKey'])
export class PackageIndex {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_package_indexes' }) projectId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_package_indexes' }) packageType: PackageType;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_package_indexes' }) nameKey: string;
  /** Rises with every change of what the documents show. */
  @Column({ type: 'bigint', default: 1 }) generation: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) changedAt: Date;
}
