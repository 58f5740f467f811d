import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Package } from '../../packages/package.entity';
import type { Nuspec } from './nuspec';

/** The version of a NuGet package and its description. Source: reference packages-and-admin 4.9. */
@Entity('nuget_versions')
@Index('ix_nuget_versions_key', ['projectId', 'nameKey', 'versionKey'])
export class NugetVersion {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_nuget_versions' })
  @ForeignKey(() => Package, { name: 'fk_nuget_versions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** The same value as in `packages`. */
  @Column({ type: 'text' }) nameKey: string;
  /** `key` of the parsed version. Uploads to one project and name run one after the other, which keeps it unique. */
  @Column({ type: 'text' }) versionKey: string;
  @Column({ type: 'boolean' }) isPrerelease: boolean;
  @Column({ type: 'jsonb' }) nuspec: Nuspec;
}
