import type { AttachedTable } from '@rookery/persistence';
import type { NoteableKinds } from '../base/noteables/noteable-kinds';

/** The attachments of this service: those of kinds first, then those of modules. */
export class AttachedTables {
  constructor(readonly all: readonly AttachedTable<NoteableKinds>[]) {}
}
