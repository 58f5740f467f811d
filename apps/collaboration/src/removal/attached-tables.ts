import type { Attachment } from '@rookery/persistence';
import type { NoteableKinds } from '../base/noteables/noteable-kinds';

/** The attachments of this service, in the order in which a user's rows are changed: tables of kinds come first. */
export class AttachedTables {
  constructor(readonly all: readonly Attachment<NoteableKinds>[]) {}
}
