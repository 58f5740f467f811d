import { Invalid, lengthProblems, assertAllUsed, keepFieldsWithProblems } from '@rookery/kernel';
import type { Visibility } from '@rookery/kernel';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { UserAgentColumns } from '../../base/noteables/user-agent-detail';

/** Fields of a snippet except its files. Omitted fields keep their values on update. */
export interface SnippetInput {
  readonly title?: string;
  readonly description?: string | null;
  readonly visibility?: Visibility;
}

/** Author, project and origin of a new snippet. */
export interface SnippetOrigin extends UserAgentColumns {
  /** Null for a personal snippet. */
  readonly projectId: number | null;
  readonly authorId: number;
}

/** Units: characters. Source: reference work-tracking 9.2. */
const LONGEST_TITLE = 255;
const LONGEST_DESCRIPTION = 1_048_576;

/** A snippet: text files that a user shares, in a project or on their own. Source: reference work-tracking 9.2. */
@Entity('snippets')
@Check('ck_snippets_title', 'char_length(title) between 1 and 255')
@Check('ck_snippets_description', 'char_length(description) <= 1048576')
@Check('ck_snippets_visibility', `visibility in ('private', 'internal', 'public')`)
@Check('ck_snippets_notes_counts', 'public_notes_count >= 0 and internal_notes_count >= 0 and system_notes_count >= 0')
@Index('ix_snippets_project_id_created_at', { synchronize: false })
@Index('ix_snippets_author_id_created_at', { synchronize: false })
@Index('ix_snippets_visibility_created_at', { synchronize: false })
@Index('ix_snippets_author_id', ['authorId'])
export class Snippet {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_snippets',
  })
  id: number;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) title: string;
  @Column({ type: 'text', nullable: true }) description: string | null;
  @Column({ type: 'text' }) visibility: Visibility;
  @Column({ type: 'boolean', nullable: true }) discussionLocked: boolean | null;
  @Column({ type: 'integer', default: 0 }) publicNotesCount: number;
  @Column({ type: 'integer', default: 0 }) internalNotesCount: number;
  @Column({ type: 'integer', default: 0 }) systemNotesCount: number;
  @Column({ type: 'integer', default: 0 }) upvotesCount: number;
  @Column({ type: 'integer', default: 0 }) downvotesCount: number;
  /** User agent and IP address of its creation, for administrators; null after its author is removed. */
  @Column({ type: 'text', nullable: true }) userAgent: string | null;
  @Column({ type: 'text', nullable: true }) ipAddress: string | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;

  /** Creates a snippet. Errors: Invalid by field. */
  static create(
    origin: SnippetOrigin,
    input: SnippetInput & Required<Pick<SnippetInput, 'title' | 'visibility'>>,
  ): Snippet {
    const snippet = new Snippet();
    Object.assign(snippet, { ...origin, description: null });
    snippet.change(input);
    return snippet;
  }

  /** Applies the input; returns true if any field changed. Errors: Invalid by field. */
  change(input: SnippetInput): boolean {
    const {
      title: inputTitle = this.title,
      description = this.description,
      visibility = this.visibility,
      ...rest
    } = input;
    assertAllUsed(rest);
    const title = inputTitle.trim();
    const problems = keepFieldsWithProblems({
      title: title === '' ? ["can't be blank"] : lengthProblems(title, LONGEST_TITLE),
      description: lengthProblems(description ?? '', LONGEST_DESCRIPTION),
    });
    if (Object.keys(problems).length > 0) throw new Invalid(problems);
    const next = { title, description, visibility };
    const isChanged = Object.entries(next).some(([name, value]) => this[name as keyof typeof next] !== value);
    Object.assign(this, next);
    return isChanged;
  }
}

/** One file of a snippet. */
@Entity('snippet_files')
@Check('ck_snippet_files_path', 'char_length(path) between 1 and 255')
@Unique('uq_snippet_files_path', ['snippetId', 'path'], { deferrable: 'INITIALLY IMMEDIATE' })
export class SnippetFile {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_snippet_files',
  })
  id: number;
  @ForeignKey(() => Snippet, { name: 'fk_snippet_files_snippet_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  snippetId: number;
  @Column({ type: 'text' }) path: string;
  /** The path encoded for URLs: PostgreSQL has no function for it. */
  @Column({ type: 'text' }) urlPath: string;
  @Column({ type: 'text' }) content: string;
}
