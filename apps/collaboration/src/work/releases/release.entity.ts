import { assertAllUsed, Invalid, lengthProblems, keepFieldsWithProblems } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn, Unique } from 'typeorm';

/** Fields of a release that its author chooses. Omitted fields keep their values on update. */
export interface ReleaseInput {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly released_at?: Date;
}

/** Facts of a new release. `sha` is the commit of the tag, or null for a tag of a blob or tree. */
export interface ReleaseFacts {
  readonly projectId: number;
  readonly authorId: number;
  readonly tag: string;
  readonly sha: string | null;
  readonly now: Date;
}

/** Maximum lengths. Units: characters. Source: reference repositories 7.3. */
const LONGEST_NAME = 255;
const LONGEST_DESCRIPTION = 1_000_000;

/** Release of a project: a tag with a description. Source: reference repositories 7.1. */
@Entity('releases')
@Check('ck_releases_description', 'char_length(description) <= 1000000')
@Unique('uq_releases_tag', ['projectId', 'tag'])
@Index('ix_releases_released_at', ['projectId', 'releasedAt', 'id'])
@Index('ix_releases_created_at', ['projectId', 'createdAt', 'id'])
@Index('ix_releases_author_id', ['authorId'])
export class Release {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_releases',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  /** Short name of the tag. */
  @Column({ type: 'text' }) tag: string;
  @Column({ type: 'text' }) name: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  /** Null after the user was removed with `hard_delete`. */
  @Column({ type: 'bigint', nullable: true }) authorId: number | null;
  /** Commit of the tag when the release was created. */
  @Column({ type: 'text', nullable: true }) sha: string | null;
  @Column({ type: 'timestamptz', precision: 3 }) releasedAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Errors: Invalid. */
  static create(input: ReleaseInput, { projectId, authorId, tag, sha, now }: ReleaseFacts): Release {
    const release = new Release();
    Object.assign(release, { projectId, authorId, tag, sha, name: tag, description: null });
    Object.assign(release, { releasedAt: now, createdAt: now });
    release.change(input, now);
    return release;
  }

  /** Errors: Invalid. */
  change({ name, description, released_at: releasedAt, ...rest }: ReleaseInput, now: Date): void {
    assertAllUsed(rest);
    const problems = keepFieldsWithProblems({
      name: lengthProblems(name ?? '', LONGEST_NAME),
      description: lengthProblems(description ?? '', LONGEST_DESCRIPTION),
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    if (name !== undefined) this.name = name ?? this.tag;
    if (description !== undefined) this.description = description;
    if (releasedAt !== undefined) this.releasedAt = releasedAt;
    this.updatedAt = now;
  }
}

/** Milestone of a release. */
@Entity('release_milestones')
@Index('ix_release_milestones_milestone_id', ['milestoneId'])
export class ReleaseMilestone {
  @ForeignKey(() => Release, { name: 'fk_release_milestones_release_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_release_milestones' })
  releaseId: number;
  @ForeignKey('milestones', { name: 'fk_release_milestones_milestone_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_release_milestones' })
  milestoneId: number;
}
