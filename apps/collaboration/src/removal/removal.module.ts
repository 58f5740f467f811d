import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { droppedByDeclaration } from '@rookery/directory';
import { Attaches, Owns, refuseUnreachable } from '@rookery/persistence';
import type { Attachment } from '@rookery/persistence';
import type { NoteableKind, NoteableKinds } from '../base/noteables/noteable-kinds';
import { AttachedTables } from './attached-tables';
import { DepartureSteps } from './departure-steps';
import { Departures } from './departures';
import { DeparturesConsumer } from './departures.consumer';
import { DeparturesJob } from './departures.job';
import { DropWritings } from './drop-writings';
import { GroupDeletionConsumer } from './group-deletion.consumer';
import { droppedWithNoteables } from './noteable-deletion.consumer';
import { ProjectDeletionConsumer } from './project-deletion.consumer';
import { attachedDepartures, UserDeparture } from './user-departure.entity';

/** What goes with a person, with a project and with a group. */
@Owns(UserDeparture)
@Attaches(attachedDepartures)
@Module({
  controllers: [DeparturesConsumer, GroupDeletionConsumer, ProjectDeletionConsumer],
  providers: [DepartureSteps, Departures, DeparturesJob, DropWritings],
})
export class RemovalModule {}

/** Removal of attached rows: the effects that the declarations of all wings ask for. */
@Module({})
export class AttachedRemovalModule {
  /** Shape: `attached` as the modules name them. Errors: a plain Error for an attachment that no module or kind names. */
  static forRoot(kinds: readonly NoteableKind[], attached: readonly Attachment<NoteableKinds>[]): DynamicModule {
    const all = [...new Set([...kinds.flatMap((kind) => kind.attached), ...attached])];
    refuseUnreachable(all);
    return {
      module: AttachedRemovalModule,
      global: true,
      controllers: [...droppedByDeclaration(attached), ...droppedWithNoteables(attached)],
      providers: [{ provide: AttachedTables, useValue: new AttachedTables(all) }],
      exports: [AttachedTables],
    };
  }
}
