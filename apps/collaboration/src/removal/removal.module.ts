import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { createAttachedRowDeletionControllers } from '@rookery/directory';
import { Attaches, Owns, refuseUnreachableAttachments } from '@rookery/persistence';
import type { AttachedTable } from '@rookery/persistence';
import type { NoteableKind, NoteableKinds } from '../base/noteables/noteable-kinds';
import { AttachedTables } from './attached-tables';
import { UserReferenceRemovalSteps } from './user-reference-removal-steps';
import { UserRemovals } from './user-removals';
import { UserRemovalsConsumer } from './user-removals.consumer';
import { UserRemovalsJob } from './departures.job';
import { DeletedGroupsConsumer } from './deleted-groups.consumer';
import { NoteableRemoval } from './noteable-removal';
import { createDeletedNoteablesConsumers } from './deleted-noteables.consumer';
import { DeletedProjectsConsumer } from './deleted-projects.consumer';
import { attachedDepartures, UserDeparture } from './user-departure.entity';

/** Removal of the rows of deleted users, projects and groups. */
@Owns(UserDeparture)
@Attaches(attachedDepartures)
@Module({
  controllers: [UserRemovalsConsumer, DeletedGroupsConsumer, DeletedProjectsConsumer],
  providers: [UserReferenceRemovalSteps, UserRemovals, UserRemovalsJob, NoteableRemoval],
})
export class RemovalModule {}

/**
 * Removes rows that belong to deleted noteables, projects, groups and users. Each effect that an attachment declares gets
 * one consumer.
 */
@Module({})
export class AttachedRemovalModule {
  /** `attached` are the attachments of all modules. Errors: a plain Error for an attachment of no module or kind. */
  static forRoot(kinds: readonly NoteableKind[], attached: readonly AttachedTable<NoteableKinds>[]): DynamicModule {
    const all = [...new Set([...kinds.flatMap((kind) => kind.attached), ...attached])];
    refuseUnreachableAttachments(all);
    return {
      module: AttachedRemovalModule,
      global: true,
      controllers: [...createAttachedRowDeletionControllers(attached), ...createDeletedNoteablesConsumers(attached)],
      providers: [{ provide: AttachedTables, useValue: new AttachedTables(all) }],
      exports: [AttachedTables],
    };
  }
}
