import { declareAttachedTable } from '@rookery/persistence';
import { Check, Column, Entity, ForeignKey, Index, PrimaryGeneratedColumn } from 'typeorm';
import type { PositionFields } from '../../../talk/notes/positions/position-rows';
import { MergeRequest } from '../merge-request.entity';

/** Note of a review that only its author sees until it is published. Source: reference repositories 8.15. */
@Entity('draft_notes')
@Check('ck_draft_notes_body', 'char_length(body) <= 1000000')
@Index('ix_draft_notes_merge_request_id', ['mergeRequestId', 'authorId', 'id'])
@Index('ix_draft_notes_author_id', ['authorId'])
export class DraftNote {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_draft_notes',
  })
  id: number;
  @ForeignKey(() => MergeRequest, { name: 'fk_draft_notes_merge_request_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  mergeRequestId: number;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) body: string;
  /** Id of the note that started the answered discussion. */
  @Column({ type: 'bigint', nullable: true }) threadId: number | null;
  /** Publishing resolves the answered discussion. */
  @Column({ type: 'boolean', default: false }) resolves: boolean;
  /** Place in the diff as it was sent. */
  @Column({ type: 'json', nullable: true }) position: PositionFields | null;
  @Column({ type: 'text', nullable: true }) lineCode: string | null;
  @Column({ type: 'text', nullable: true }) commitId: string | null;
}

/** Drafts are removed with their author; those of a merge request go by a foreign key. */
export const attachedDraftNotes = declareAttachedTable({
  table: 'draft_notes',
  users: [{ column: 'author_id', onRemoval: 'delete' }],
  stays: {
    thread_id: 'a draft whose discussion is gone is refused when it is published',
    commit_id: 'names a commit of git',
  },
});
