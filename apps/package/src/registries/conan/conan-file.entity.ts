import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { PackageFile } from '../../packages/package-file.entity';
import { ConanRevision } from './conan-revision.entity';

/** A file of a revision. Source: reference packages-and-admin 4.13. */
@Entity('conan_files')
@Index('ix_conan_files_revision_id', ['revisionId'])
export class ConanFile {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_conan_files' })
  @ForeignKey(() => PackageFile, { name: 'fk_conan_files_file_id', onDelete: 'CASCADE' })
  fileId: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => ConanRevision, { name: 'fk_conan_files_revision_id', onDelete: 'CASCADE' })
  revisionId: number;
}
