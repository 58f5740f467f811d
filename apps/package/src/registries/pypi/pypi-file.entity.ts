import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { PackageFile } from '../../packages/package-file.entity';

/** Facts of a PyPI file that index pages show, for installers. Source: reference packages-and-admin 4.5. */
@Entity('pypi_files')
@Check('ck_pypi_files_requires_python', 'char_length(requires_python) <= 255')
@Index('ix_pypi_files_metadata_sha256', ['metadataSha256'], { where: 'metadata_sha256 is not null' })
export class PypiFile {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_pypi_files' })
  @ForeignKey(() => PackageFile, { name: 'fk_pypi_files_file_id', onDelete: 'CASCADE' })
  fileId: number;
  /** Version specifiers of Python, null without. */
  @Column({ type: 'text', nullable: true }) requiresPython: string | null;
  /** Key of the blob with the core metadata of a wheel; null for other files and unreadable wheels. */
  @Column({ type: 'text', nullable: true }) metadataSha256: string | null;
  /** Units: bytes. */
  @Column({ type: 'integer', nullable: true }) metadataSize: number | null;
  /** Reason for which installers should ignore the file, may be empty; null for a file that is not yanked. */
  @Column({ type: 'text', nullable: true }) yanked: string | null;
}
