import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** A gist that an import left out. */
export interface LeftOutGist {
  readonly name: string;
  readonly reason: string;
}

/** An import of the gists of a user. A user has one that runs at most. Source: reference identity-and-import 6.9. */
@Entity('gist_imports')
@Check('ck_gist_imports_state', `state in ('started', 'finished', 'failed')`)
@Check('ck_gist_imports_credential', `sealed_credential is null or state = 'started'`)
@Index('uq_gist_imports_started_of_user', ['userId'], { unique: true, where: `state = 'started'` })
@Index('ix_gist_imports_updated_at', ['updatedAt'])
@Unique('uq_gist_imports_import_key', ['importKey'])
export class GistImport {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_gist_imports',
  })
  id: number;
  /** Binds the sealed credential to this import, and prevents a second e-mail about it. */
  @Column({ type: 'uuid' }) importKey: string;
  @Column({ type: 'bigint' }) userId: number;
  @Column({ type: 'text', default: 'started' }) state: 'started' | 'finished' | 'failed';
  @Column({ type: 'text' }) apiUrl: string;
  @Column({ type: 'bytea', nullable: true }) sealedCredential: Buffer | null;
  /** Address of the next page; null for the first. */
  @Column({ type: 'text', nullable: true }) nextPage: string | null;
  @Column({ type: 'integer', default: 0 }) pages: number;
  @Column({ type: 'jsonb', default: [] }) leftOut: readonly LeftOutGist[];
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}
