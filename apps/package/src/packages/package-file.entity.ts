import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import { Package } from './package.entity';

/** A file of a package. Its content is the blob with the key `sha256`. Source: reference packages-and-admin 3.2. */
@Entity('package_files')
@Check('ck_package_files_file_name', 'char_length(file_name) <= 5000')
@Index('ix_package_files_package_id', ['packageId', 'id'])
@Index('ix_package_files_package_id_file_name', { synchronize: false })
@Index('ix_package_files_project_id', ['projectId', 'isPendingDestruction', 'size'])
@Index('ix_package_files_sha256', ['sha256'])
@Index('ix_package_files_pending', ['id'], { where: 'is_pending_destruction' })
export class PackageFile {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_package_files',
  })
  id: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Package, { name: 'fk_package_files_package_id', onDelete: 'CASCADE' })
  packageId: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) fileName: string;
  /** Units: bytes. */
  @Column({ type: 'bigint' }) size: number;
  @Column({ type: 'text' }) sha256: string;
  @Column({ type: 'text' }) sha1: string;
  @Column({ type: 'text' }) md5: string;
  /** Deleted by the API; the row goes with the next run of the job `destroy-packages`. */
  @Column({ type: 'boolean', default: false }) isPendingDestruction: boolean;
  /** Credential that may repeat the upload, until its answer is known to be written. Null for all other files. */
  @Column({ type: 'bigint', nullable: true }) unansweredTokenId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
