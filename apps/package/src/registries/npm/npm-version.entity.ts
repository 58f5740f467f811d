import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { Package } from '../../packages/package.entity';

/** The manifest of one version of an npm package. Source: reference packages-and-admin 4.4. */
@Entity('npm_versions')
@Index('ix_npm_versions_project_id', ['projectId'])
export class NpmVersion {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_npm_versions' })
  @ForeignKey(() => Package, { name: 'fk_npm_versions_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** JSON object as published, without the keys that an answer computes. */
  @Column({ type: 'text' }) manifest: string;
  /** JSON object with the fields that an installation needs. */
  @Column({ type: 'text' }) brief: string;
  @Column({ type: 'text', nullable: true }) readme: string | null;
  /** SHA-512 of the tarball as `sha512-<base64>`. */
  @Column({ type: 'text' }) integrity: string;
  /** SHA-1 of the tarball, in hexadecimal. */
  @Column({ type: 'text' }) shasum: string;
  /** Text that clients show on installation; null unless the version is deprecated. */
  @Column({ type: 'text', nullable: true }) deprecation: string | null;
  /** Session of the client that published it. A repeated request of that session is the same publication. */
  @Column({ type: 'text', nullable: true }) session: string | null;
}
