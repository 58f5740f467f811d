import type { ImportState, ImportType } from '@rookery/contracts';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/**
 * An import of a project. It is `pending` until identity has created the project. A credential exists only until the
 * import ends. Source: reference identity-and-import 6.1.
 */
@Entity('project_imports')
@Check('ck_project_imports_source', `source in ('remote', 'git', 'repohost_server', 'repohost')`)
@Check('ck_project_imports_state', `state in ('pending', 'scheduled', 'started', 'finished', 'failed', 'canceled')`)
@Check('ck_project_imports_project', `project_id is not null or state in ('pending', 'failed')`)
@Check('ck_project_imports_credential', `sealed_credential is null or state in ('pending', 'scheduled', 'started')`)
@Check('ck_project_imports_page_size', 'page_size between 1 and 100')
@Index('ix_project_imports_project_id', ['projectId', 'id'])
@Index('ix_project_imports_unfinished', ['updatedAt'], { where: `state in ('pending', 'scheduled', 'started')` })
@Index('ix_project_imports_unfinished_of_user', ['userId', 'state', 'id'], {
  where: `state in ('scheduled', 'started')`,
})
@Unique('uq_project_imports_import_key', ['importKey'])
export class ProjectImport {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_project_imports',
  })
  id: number;
  /** Name of the import in identity, and the correlation id in the API. */
  @Column({ type: 'uuid' }) importKey: string;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) userId: number;
  @Column({ type: 'text' }) source: ImportType;
  @Column({ type: 'text' }) state: 'pending' | ImportState;
  /** Owner and name of the upstream repository. */
  @Column({ type: 'text' }) upstreamName: string;
  /** Web page of the upstream repository; null if unknown. */
  @Column({ type: 'text', nullable: true }) upstreamUrl: string | null;
  @Column({ type: 'text' }) cloneUrl: string;
  @Column({ type: 'text', nullable: true }) defaultBranch: string | null;
  /** Address of the API of the upstream host; null if the import brings the repository alone. */
  @Column({ type: 'text', nullable: true }) apiUrl: string | null;
  /** Number of objects in one page of an upstream list. */
  @Column({ type: 'integer', default: 100 }) pageSize: number;
  /** Whether the import goes on without a stage that fails. */
  @Column({ type: 'boolean', default: false }) isOptimistic: boolean;
  /** Whether comments are read for each issue and pull request, because long lists of hosts end too early. */
  @Column({ type: 'boolean', default: false }) singleEndpointNotes: boolean;
  /** Whether files that texts link to are stored in the project. */
  @Column({ type: 'boolean', default: false }) withAttachments: boolean;
  /** The credential of the upstream host, encrypted (`ImportCredentials`). */
  @Column({ type: 'bytea', nullable: true }) sealedCredential: Buffer | null;
  /** The job that runs the import. */
  @Column({ type: 'bigint', nullable: true }) jobId: number | null;
  /** The last try of this job that made progress; 0 for none. */
  @Column({ type: 'integer', default: 0 }) progressTry: number;
  @Column({ type: 'text', nullable: true }) error: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** An object that an import could not bring along. */
@Entity('import_failures')
@Unique('uq_import_failures_object', ['importId', 'relationName', 'objectName'])
export class ImportFailure {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_import_failures',
  })
  id: number;
  @ForeignKey(() => ProjectImport, { name: 'fk_import_failures_import_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  importId: number;
  @Column({ type: 'text' }) relationName: string;
  @Column({ type: 'text' }) objectName: string;
  @Column({ type: 'text' }) message: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** Progress of a stage of an import. An interrupted import continues with the next page. */
@Entity('import_stages')
export class ImportStage {
  @ForeignKey(() => ProjectImport, { name: 'fk_import_stages_import_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_import_stages' })
  importId: number;
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_import_stages' }) name: string;
  @Column({ type: 'boolean', default: false }) isDone: boolean;
  /** Address of the next page of the upstream list; null for the first. */
  @Column({ type: 'text', nullable: true }) nextPage: string | null;
  @Column({ type: 'integer', default: 0 }) pages: number;
  /** Numbers of objects that the host has sent, and of those that are in the project. */
  @Column({ type: 'integer', default: 0 }) fetched: number;
  @Column({ type: 'integer', default: 0 }) imported: number;
}
