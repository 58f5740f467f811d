import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import { PackageFile } from '../../packages/package-file.entity';

/** Facts of a Maven file that `package_files` does not have. Source: reference packages-and-admin 4.6. */
@Entity('maven_files')
export class MavenFile {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_maven_files' })
  @ForeignKey(() => PackageFile, { name: 'fk_maven_files_file_id', onDelete: 'CASCADE' })
  fileId: number;
  @Column({ type: 'text' }) sha512: string;
  /** Names of the files that the metadata of a snapshot lists; null for other files. */
  @Column({ type: 'text', array: true, nullable: true }) listedFiles: string[] | null;
}
