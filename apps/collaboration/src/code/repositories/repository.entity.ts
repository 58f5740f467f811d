import { Column, Entity, Index, PrimaryColumn } from 'typeorm';

/** Repository of a project. It has a row from its first use on. Its folder follows from the project id. */
@Entity('repositories')
@Index('ix_repositories_copies_project_id', ['copiesProjectId'], { where: 'copies_project_id is not null' })
export class ProjectRepository {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_repositories' })
  projectId: number;
  /** Name of the storage that holds the folder. */
  @Column({ type: 'text' }) storage: string;
  /** The default branch got its first rule, with the first push. Later its rules are for maintainers to change. */
  @Column({ type: 'boolean', default: false }) isDefaultProtected: boolean;
  /** The project whose repository is still to be copied; null once that is done, and for projects that are not forks. */
  @Column({ type: 'bigint', nullable: true }) copiesProjectId: number | null;
  /** The only branch of that copy; null for all. */
  @Column({ type: 'text', nullable: true }) copiesBranch: string | null;
  /** The project was created with `initialize_with_readme`, and the commit is still to be written. */
  @Column({ type: 'boolean', default: false }) needsReadme: boolean;
  /** Units: bytes. Null until the first measurement, or the first settled push under a quota. */
  @Column({ type: 'bigint', nullable: true }) size: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
}

/** Repository of a deleted project, until a job has removed its folder. */
@Entity('removed_repositories')
export class RemovedRepository {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_removed_repositories' })
  projectId: number;
  @Column({ type: 'text' }) storage: string;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) removedAt: Date;
}
