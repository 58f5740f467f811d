import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';
import { Note } from '../note.entity';

export const POSITION_TYPES = ['text', 'image', 'file'] as const;
export type PositionType = (typeof POSITION_TYPES)[number];

/**
 * Place of a thread in a diff. All notes of the thread share it. Source: reference repositories 8.11.
 */
@Entity('note_positions')
@Check('ck_note_positions_position_type', `position_type in ('text', 'image', 'file')`)
@Index('ix_note_positions_noteable', ['noteableId', 'noteableType'])
export class NotePosition {
  /** Id of the note that started the thread, which may be deleted. */
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_note_positions' }) threadId: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint' }) noteableId: number;
  @Column({ type: 'text' }) positionType: PositionType;
  /** Current position as the API shows it; it keeps its last value when the thread is outdated. */
  @Column({ type: 'json' }) shown: object;
  /** Position at which the thread was started. */
  @Column({ type: 'json' }) original: object;
  /** Place of the change that made the thread outdated. */
  @Column({ type: 'json', nullable: true }) change: object | null;
  @Column({ type: 'text', nullable: true }) lineCode: string | null;
  @Column({ type: 'text', nullable: true }) commitId: string | null;
  /** Paths of the file in the diff of `shown`; both the same for a file that is new or gone. */
  @Column({ type: 'text' }) oldPath: string;
  @Column({ type: 'text' }) newPath: string;
  /** False if the code of the thread has changed or has left the diff. */
  @Column({ type: 'boolean', default: true }) isActive: boolean;
}

/** Proposed replacement of lines in a note of a diff thread. Source: requirements 1 §2 Suggestion. */
@Entity('suggestions')
@Check('ck_suggestions_lines', 'lines_above between 0 and 100 and lines_below between 0 and 100')
@Index('ix_suggestions_note_id', ['noteId', 'relativeOrder'])
export class Suggestion {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_suggestions',
  })
  id: number;
  @ForeignKey(() => Note, { name: 'fk_suggestions_note_id', onDelete: 'CASCADE' })
  @Column({ type: 'bigint' })
  noteId: number;
  /** Place among the suggestions of the note. */
  @Column({ type: 'integer' }) relativeOrder: number;
  /** Replaced lines above and below the line of the thread. */
  @Column({ type: 'integer' }) linesAbove: number;
  @Column({ type: 'integer' }) linesBelow: number;
  @Column({ type: 'text' }) fromContent: string;
  @Column({ type: 'text' }) toContent: string;
  /** The replaced lines are no longer `fromContent`. */
  @Column({ type: 'boolean', default: false }) isOutdated: boolean;
  /** Commit that applied the suggestion. */
  @Column({ type: 'text', nullable: true }) commitId: string | null;
}

/** Commit that applies a suggestion, noted before its branch moves. Several attempts leave several rows. */
@Entity('suggestion_intents')
@Index('ix_suggestion_intents_suggestion_id', ['suggestionId'])
export class SuggestionIntent {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_suggestion_intents' }) commitId: string;
  @ForeignKey(() => Suggestion, { name: 'fk_suggestion_intents_suggestion_id', onDelete: 'CASCADE' })
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_suggestion_intents' })
  suggestionId: number;
}
