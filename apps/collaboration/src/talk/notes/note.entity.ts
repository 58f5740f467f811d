import { Invalid, InvalidParameters, lengthProblems, Refused } from '@rookery/kernel';
import type { RowOf } from '@rookery/persistence';
import { NOTEABLE_TYPES } from '@rookery/contracts';
import type { NoteableType } from '@rookery/contracts';
import { Check, Column, Entity, Index, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

/** Maximum length of a note. Units: characters. Source: requirements 1 §8. */
const MAX_BODY_LENGTH = 1_000_000;

/** A comment or a system note on a noteable. Source: requirements 1 §2 Note. */
@Entity('notes')
@Check('ck_notes_noteable_type', `noteable_type in (${NOTEABLE_TYPES.map((type) => `'${type}'`).join(', ')})`)
@Check('ck_notes_body', 'char_length(body) <= 1000000')
@Check('ck_notes_system_public', 'not (system and internal)')
@Check(
  'ck_notes_referenced',
  '(referenced_type is null) = (referenced_id is null) and (referenced_id is null or system)',
)
@Check('ck_notes_thread', 'thread_id is not null or (not is_reply and resolved_at is null)')
@Index('ix_notes_noteable_created_at', { synchronize: false })
@Index('ix_notes_noteable_updated_at', { synchronize: false })
@Index('ix_notes_noteable_created_at_system', { synchronize: false })
@Index('ix_notes_author_id', ['authorId'])
@Index('ix_notes_thread', { synchronize: false })
@Index('uq_notes_cross_reference', { synchronize: false })
@Index('uq_notes_commit_reference', { synchronize: false })
@Index('ix_notes_referenced', { synchronize: false })
@Index('ix_notes_unresolved', { synchronize: false })
@Index('ix_notes_resolved_by_id', ['resolvedById'], { where: 'resolved_by_id is not null' })
export class Note {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_notes',
  })
  id: number;
  @Column({ type: 'text' }) noteableType: NoteableType;
  @Column({ type: 'bigint', nullable: true }) noteableId: number | null;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) body: string;
  /** Id of the user who changed the text last. */
  @Column({ type: 'bigint', nullable: true }) editedById: number | null;
  @Column({ type: 'boolean', default: false }) system: boolean;
  @Column({ type: 'boolean', default: false }) internal: boolean;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  /** Id of the note that started the thread, also on that note itself; null for an individual note. */
  @Column({ type: 'bigint', nullable: true }) threadId: number | null;
  /** False for the head of a thread: its first note, or the oldest that is left after deletions. */
  @Column({ type: 'boolean', default: false }) isReply: boolean;
  @Column({ type: 'timestamptz', precision: 3, nullable: true }) resolvedAt: Date | null;
  @Column({ type: 'bigint', nullable: true }) resolvedById: number | null;
  /** The noteable that a system note's text refers to; it may have been deleted. */
  @Column({ type: 'text', nullable: true }) referencedType: NoteableType | null;
  @Column({ type: 'bigint', nullable: true }) referencedId: number | null;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) updatedAt: Date;
}

/** A note that was resolved. */
export type ResolvedNote = RowOf<Note, 'id' | 'internal'>;

/** Number of notes that a user wrote in the minute that began with the first of them. Source: ADR 0071. */
@Entity('note_creations')
export class NoteCreation {
  @PrimaryColumn({ type: 'bigint', primaryKeyConstraintName: 'pk_note_creations' }) userId: number;
  @Column({ type: 'timestamptz' }) windowStartedAt: Date;
  @Column({ type: 'integer' }) notesCount: number;
}

/**
 * Validates and returns the text of a new note.
 * Errors: Refused, with the API's message, when blank or too long. Source: reference work-tracking 2.1.
 */
export function validateNewNoteBody(text: string): string {
  const [problem] = text.trim() === '' ? ["can't be blank"] : lengthProblems(text, MAX_BODY_LENGTH);
  if (problem !== undefined) throw new Refused(`Note {:note=>["${problem}"]}`);
  return text;
}

/** Checks whether a text can be the text of a note. */
export function isValidNoteBody(text: string): boolean {
  return text.trim() !== '' && lengthProblems(text, MAX_BODY_LENGTH).length === 0;
}

/** Validates and returns the text of an edited note. Errors: InvalidParameters when blank, Invalid when too long. */
export function validateEditedNoteBody(text: string): string {
  if (text.trim() === '') throw new InvalidParameters(['body is empty']);
  const note = lengthProblems(text, MAX_BODY_LENGTH);
  if (note.length > 0) throw new Invalid({ note });
  return text;
}
