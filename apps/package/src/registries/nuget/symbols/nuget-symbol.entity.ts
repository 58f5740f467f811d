import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { PackageFile } from '../../../packages/package-file.entity';

/** A file of symbols inside an archive of a project. Source: reference packages-and-admin 4.9. */
@Entity('nuget_symbols')
@Index('ix_nuget_symbols_signature', ['projectId', 'signature', 'nameKey', 'fileId'])
export class NugetSymbol {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_nuget_symbols' })
  @ForeignKey(() => PackageFile, { name: 'fk_nuget_symbols_file_id', onDelete: 'CASCADE' })
  fileId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_nuget_symbols' })
  entryName: string;
  @Column({ type: 'bigint' }) projectId: number;
  /** Name of the file without folders, in lower case. */
  @Column({ type: 'text' }) nameKey: string;
  /** The same value as in `PdbIdentity`. */
  @Column({ type: 'text' }) signature: string;
  /** The same value as in `PdbIdentity`. */
  @Column({ type: 'text' }) checksum: string;
  /** Bytes of the inflated file. */
  @Column({ type: 'bigint' }) size: number;
}
