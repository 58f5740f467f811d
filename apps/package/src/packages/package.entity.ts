import { Check, Column, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { PackageStatus, PackageType } from './package-types';

/** One version of a package, or a package without versions. Source: requirements 3 §2 Package. */
@Entity('packages')
@Check('ck_packages_name', 'char_length(name) <= 255')
@Check('ck_packages_version', 'char_length(version) <= 255')
@Check(
  'ck_packages_status',
  `status in ('default', 'hidden', 'processing', 'error', 'pending_destruction', 'deprecated')`,
)
@Index('uq_packages_name', { synchronize: false })
@Index('ix_packages_listed', { synchronize: false })
@Index('ix_packages_project_id_created_at', ['projectId', 'createdAt', 'id'])
@Index('ix_packages_creator_id', ['creatorId'], { where: 'creator_id is not null' })
@Index('ix_packages_maven_name', ['nameKey', 'id'], {
  where: `package_type = 'maven' and status <> 'pending_destruction'`,
})
@Index('ix_packages_conan_name', ['name', 'version', 'nameKey'], {
  where: `package_type = 'conan' and status <> 'pending_destruction'`,
})
@Index('ix_packages_pending', ['id'], { where: `status = 'pending_destruction'` })
export class Package {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_packages',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) packageType: PackageType;
  @Column({ type: 'text' }) name: string;
  /** `nameKeyOf` of the name, or `name@user/channel` of a Conan package. Unique with project, type and version among packages that are not being destroyed. */
  @Column({ type: 'text' }) nameKey: string;
  @Column({ type: 'text', nullable: true }) version: string | null;
  @Column({ type: 'text', default: 'default' }) status: PackageStatus;
  /** Null for uploads with a deploy token or job token, and after the user was deleted. */
  @Column({ type: 'bigint', nullable: true }) creatorId: number | null;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) lastDownloadedAt: Date | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
