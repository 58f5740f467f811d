import { InvalidParameters, Refused } from '@rookery/kernel';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

/** Units: characters. Source: requirements 1 §8. */
export const MAX_BODY_LENGTH = 1_000_000;

/** A comment or a system record on a noteable. Source: requirements 1 §2 Note. */
@Entity('notes')
export class Note {
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'BY DEFAULT' }) id: number;
  @Column({ type: 'text' }) noteableType: string;
  @Column({ type: 'bigint', nullable: true }) noteableId: number | null;
  @Column({ type: 'bigint', nullable: true }) projectId: number | null;
  @Column({ type: 'bigint' }) authorId: number;
  @Column({ type: 'text' }) body: string;
  @Column({ type: 'boolean', default: false }) system: boolean;
  @Column({ type: 'boolean', default: false }) internal: boolean;
  @Column({ type: 'text', default: 'none' }) importedFrom: string;
  @Column({ type: 'timestamptz', precision: 3 }) createdAt: Date;
  @Column({ type: 'timestamptz', precision: 3 }) updatedAt: Date;
}

/**
 * The text of a new note.
 * Errors: Refused in the words that clients know. Source: reference work-tracking 2.1.
 */
export function newBody(text: string): string {
  if (text.trim() === '') throw refusedNote('note', "can't be blank");
  return withinLength(text);
}

/** The text of an edited note. Errors: InvalidParameters when blank, Refused when too long. */
export function editedBody(text: string): string {
  if (text.trim() === '') throw new InvalidParameters(['body is empty']);
  return withinLength(text);
}

/** A refusal of a note as a whole, spelt as the reference's clients know it. */
export function refusedNote(field: string, problem: string): Refused {
  return new Refused(`Note {:${field}=>["${problem}"]}`);
}

function withinLength(text: string): string {
  // Code units are at least as many as characters, so short texts need no count.
  if (text.length > MAX_BODY_LENGTH && [...text].length > MAX_BODY_LENGTH) {
    throw refusedNote('note', `is too long (maximum is ${MAX_BODY_LENGTH} characters)`);
  }
  return text;
}
