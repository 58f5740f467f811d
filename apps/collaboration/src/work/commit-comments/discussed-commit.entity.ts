import { declareAttachedTable } from '@rookery/persistence';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';

/**
 * A commit with comments. The row is written before the first comment, and has what to-dos, feeds and e-mails show of the
 * commit, because they do not read repositories. Source: reference repositories 4.6.
 */
@Entity('discussed_commits')
@Unique('uq_discussed_commits_project_id_sha', ['projectId', 'sha'])
@Check(
  'ck_discussed_commits_notes_counts',
  'public_notes_count >= 0 and internal_notes_count >= 0 and system_notes_count >= 0',
)
@Index('ix_discussed_commits_author_id', ['authorId'])
export class DiscussedCommit {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_discussed_commits',
  })
  id: number;
  @Column({ type: 'bigint' }) projectId: number;
  @Column({ type: 'text' }) sha: string;
  /** User with the e-mail address of the author; null if none has it. */
  @Column({ type: 'bigint', nullable: true }) authorId: number | null;
  /** First line of the message. */
  @Column({ type: 'text' }) title: string;
  /** The message. */
  @Column({ type: 'text' }) description: string;
  @Column({ type: 'text', array: true }) parentIds: string[];
  @Column({ type: 'text' }) authorName: string;
  @Column({ type: 'text' }) authorEmail: string;
  /** In the zone of the author, as the API shows it. */
  @Column({ type: 'text' }) authoredDate: string;
  @Column({ type: 'text' }) committerName: string;
  @Column({ type: 'text' }) committerEmail: string;
  /** In the zone of the committer, as the API shows it. */
  @Column({ type: 'text' }) committedDate: string;
  /** Always null, because discussions of commits are never locked. */
  @Column({ type: 'boolean', nullable: true }) discussionLocked: boolean | null;
  @Column({ type: 'integer', default: 0 }) publicNotesCount: number;
  /** Always 0, because commits have no internal notes. */
  @Column({ type: 'integer', default: 0 }) internalNotesCount: number;
  @Column({ type: 'integer', default: 0 }) systemNotesCount: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** Commits stay in the repository when their author's account is removed, and their comments with them. */
export const attachedDiscussedCommits = declareAttachedTable({
  table: 'discussed_commits',
  project: 'project_id',
  users: [{ column: 'author_id', onRemoval: 'ghost-or-null' }],
});
