import { Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A file that a user attached to texts of a project, or that an import brought. Source: reference repositories 9; ADR 0202. */
@Entity('uploads')
@Unique('uq_uploads_secret', ['projectId', 'secret'])
@Unique('uq_uploads_import_source', ['projectId', 'importSource'])
@Index('ix_uploads_sha256', ['sha256'])
export class Upload {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_uploads',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** Random part of the address: 32 hexadecimal digits. */
  @Column({ type: 'text' }) secret: string;
  @Column({ type: 'text' }) filename: string;
  /** Key of the content in the store of files. */
  @Column({ type: 'text' }) sha256: string;
  /** Units: bytes. */
  @Column({ type: 'bigint' }) size: number;
  /** Media type of a picture that browsers may show; null for other files. */
  @Column({ type: 'text', nullable: true }) pictureType: string | null;
  @Column({ type: 'bigint', nullable: true }) uploaderId: number | null;
  /** Hex SHA-256 of the upstream address of an imported file; null for files of users. */
  @Column({ type: 'text', nullable: true }) importSource: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
