import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Package } from '../../packages/package.entity';

/** The comparable form of the version of a PyPI package. Source: reference packages-and-admin 4.5. */
@Entity('pypi_versions')
@Index('ix_pypi_versions_key', ['projectId', 'nameKey', 'versionKey'])
export class PypiVersion {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_pypi_versions' })
  @ForeignKey(() => Package, { name: 'fk_pypi_versions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** The same value as in `packages`. */
  @Column({ type: 'text' }) nameKey: string;
  /** `normalizePypiVersion` of the version. Uploads to one project and name run one after the other, which keeps it unique. */
  @Column({ type: 'text' }) versionKey: string;
}
