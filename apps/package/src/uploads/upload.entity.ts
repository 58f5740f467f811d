import { Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A file that a user attached to texts of a project. Source: reference repositories 9. */
@Entity('uploads')
@Unique('uq_uploads_secret', ['projectId', 'secret'])
@Index('ix_uploads_sha256', ['sha256'])
export class Upload {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_uploads',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** Random part of the address. Shape: 32 hexadecimal digits. */
  @Column({ type: 'text' }) secret: string;
  @Column({ type: 'text' }) filename: string;
  /** Key of the content in the store of files. */
  @Column({ type: 'text' }) sha256: string;
  /** Units: bytes. */
  @Column({ type: 'bigint' }) size: number;
  /** Media type of a picture that browsers may show; null for other files. */
  @Column({ type: 'text', nullable: true }) pictureType: string | null;
  @Column({ type: 'bigint', nullable: true }) uploaderId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}
