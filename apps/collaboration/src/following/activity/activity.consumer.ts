import { Controller } from '@nestjs/common';
import {
  memberAdded,
  memberRemoved,
  milestoneCreated,
  milestoneDeleted,
  milestoneMerged,
  milestoneStateChanged,
  noteCreated,
  noteDeleted,
  projectCreated,
  projectDeleted,
  pushCompleted,
} from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { findActorId, resolveEventCauseTime, readSubjects } from '../../base/noteables/subjects';
import { NoteSubjects } from '../../talk/notes/note-subjects';
import { lockExistingMilestoneIds } from '../../planning/milestones/existing-milestones';
import { ACTIVITY_TARGET_TYPES } from './activity-types';
import type { ActivityAction } from './activity-types';
import { readPushEntries } from './push-entries';
import { attachedActivity, ActivityRecorder } from './activity-recorder';
import type { ActivityEntry } from './activity-recorder';

type NoteableActionEvent = Delivered<NoteableEvent<'created' | 'closed' | 'reopened' | 'merged' | 'approved'>>;

/** Feeds may lag a little, so events of 100 ms are recorded together (ADR 0025). */
const RECORDING = { effect: 'record-activity', gatherMs: 100 };

/** Records events as entries of feeds. Source: reference work-tracking 7.2, 7.6. */
@Controller()
export class ActivityConsumer {
  constructor(
    private readonly activity: ActivityRecorder,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
    private readonly directory: Directory,
  ) {}

  @Consume(noteables.created, RECORDING)
  recordCreation({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    return this.recordNoteableEntries(tx, events, 'created', (event) => event.data.created_at);
  }

  @Consume(noteables.closed, RECORDING)
  recordClosing({ tx, events }: EffectBatch<NoteableEvent<'closed'>>): Promise<void> {
    return this.recordNoteableEntries(tx, events, 'closed', (event) => event.data.closed_at);
  }

  @Consume(noteables.reopened, RECORDING)
  recordReopening({ tx, events }: EffectBatch<NoteableEvent<'reopened'>>): Promise<void> {
    return this.recordNoteableEntries(tx, events, 'reopened', (event) => event.data.reopened_at);
  }

  @Consume(noteables.merged, RECORDING)
  recordMerge({ tx, events }: EffectBatch<NoteableEvent<'merged'>>): Promise<void> {
    return this.recordNoteableEntries(tx, events, 'merged', (event) => event.data.merged_at);
  }

  @Consume(noteables.approved, RECORDING)
  recordApproval({ tx, events }: EffectBatch<NoteableEvent<'approved'>>): Promise<void> {
    return this.recordNoteableEntries(tx, events, 'approved', (event) => event.data.approved_at);
  }

  @Consume(noteCreated, RECORDING)
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const notes = await this.notes.lockNotes(
      tx,
      events.map((event) => event.data.note_id),
    );
    const entries = events.flatMap((event): ActivityEntry[] => {
      const note = notes.get(event.data.note_id);
      if (!note) return [];
      const { project_id: projectId, author_id: authorId, note_id: targetId } = note;
      // Feeds contain entries of projects only.
      if (projectId === null) return [];
      const noteable = { noteableType: note.noteable_type, noteableId: note.noteable_id };
      const at = resolveEventCauseTime(event, event.data.created_at);
      const threadType = note.is_diff ? 'DiffNote' : 'DiscussionNote';
      const targetType = note.thread_id === null ? 'Note' : threadType;
      return [{ eventId: event.id, projectId, authorId, action: 'commented', targetType, targetId, noteable, at }];
    });
    await this.activity.record(tx, entries);
  }

  @Consume(projectCreated, RECORDING)
  async projectCreated({ tx, events }: EffectBatch<typeof projectCreated>): Promise<void> {
    const entries = events.map(({ id, data }) =>
      projectEntry(id, {
        projectId: data.project_id,
        authorId: data.creator_id,
        action: 'created',
        at: data.created_at,
        ...(data.imported_from === undefined ? {} : { importedFrom: data.imported_from }),
      }),
    );
    await this.activity.record(tx, entries);
  }

  @Consume(milestoneCreated, RECORDING)
  async milestoneCreated({ tx, events }: EffectBatch<typeof milestoneCreated>): Promise<void> {
    await this.recordMilestoneEntries(tx, events, (event) => ({ action: 'created', at: event.data.created_at }));
  }

  @Consume(milestoneStateChanged, RECORDING)
  async milestoneStateChanged({ tx, events }: EffectBatch<typeof milestoneStateChanged>): Promise<void> {
    await this.recordMilestoneEntries(tx, events, ({ data }) => {
      return { action: data.state === 'closed' ? 'closed' : 'reopened', at: data.changed_at };
    });
  }

  /** The entry of the deletion remains, without the id of the milestone. Its other entries are deleted. */
  @Consume(milestoneDeleted, RECORDING)
  async milestoneDeleted({ tx, events }: EffectBatch<typeof milestoneDeleted>): Promise<void> {
    await this.activity.dropOfMilestones(
      tx,
      events.map(({ data }) => data.milestone_id),
    );
    const entries = events.flatMap(({ id: eventId, actorId, time: at, data: { project_id: projectId } }) =>
      projectId === null || actorId === null
        ? []
        : [milestoneEntry({ eventId, projectId, authorId: actorId, action: 'destroyed', at }, null)],
    );
    await this.activity.record(tx, entries);
  }

  /** Moves entries of merged milestones to the remaining milestone, or deletes them if that one was deleted meanwhile. */
  @Consume(milestoneMerged, RECORDING)
  async milestoneMerged({ tx, events }: EffectBatch<typeof milestoneMerged>): Promise<void> {
    const targets = [...new Set(events.map(({ data }) => data.target_id))];
    const present = await lockExistingMilestoneIds(tx, targets);
    for (const target of targets) {
      const merged = events.filter(({ data }) => data.target_id === target).map(({ data }) => data.milestone_id);
      if (present.has(target)) await this.activity.moveToMilestone(tx, merged, target);
      else await this.activity.dropOfMilestones(tx, merged);
    }
  }

  @Consume(pushCompleted, RECORDING)
  async pushCompleted({ tx, events }: EffectBatch<typeof pushCompleted>): Promise<void> {
    await this.activity.record(tx, await readPushEntries(tx, events));
  }

  @Consume(memberAdded, RECORDING)
  async memberAdded({ tx, events }: EffectBatch<typeof memberAdded>): Promise<void> {
    const entries = events
      .filter(isProjectMembershipEvent)
      .map(({ id, data }) =>
        projectEntry(id, { projectId: data.source_id, authorId: data.user_id, action: 'joined', at: data.added_at }),
      );
    await this.activity.record(tx, entries);
  }

  @Consume(memberRemoved, RECORDING)
  async memberRemoved({ tx, events }: EffectBatch<typeof memberRemoved>): Promise<void> {
    const entries = events.filter(isProjectMembershipEvent).map(({ id, data }) => {
      const action = data.reason === 'expired' ? 'expired' : 'left';
      return projectEntry(id, { projectId: data.source_id, authorId: data.user_id, action, at: data.removed_at });
    });
    await this.activity.record(tx, entries);
  }

  @Consume(noteDeleted, { effect: 'drop-activity' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const known = events.filter((event) => this.kinds.kindOfType(event.data.noteable_type));
    await this.activity.dropOfNotes(
      tx,
      known.map(({ data }) => ({
        noteableType: data.noteable_type,
        noteableId: data.noteable_id!,
        noteId: data.note_id,
      })),
    );
  }

  @Consume(projectDeleted, { effect: 'drop-activity' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.assertDeleted(tx, 'project', events, ids);
    await attachedActivity.deleteRows(tx, 'project', ids);
  }

  /** Records entries of milestones of projects that still exist. Groups have no feeds. */
  private async recordMilestoneEntries<E extends Delivered<typeof milestoneCreated | typeof milestoneStateChanged>>(
    tx: Tx,
    events: readonly E[],
    actionAndTimeOf: (event: E) => Pick<ActivityEntry, 'action' | 'at'>,
  ): Promise<void> {
    const present = await lockExistingMilestoneIds(
      tx,
      events.map(({ data }) => data.milestone_id),
    );
    const entries = events.flatMap((event): ActivityEntry[] => {
      const { id: eventId, actorId: authorId, data } = event;
      const { milestone_id: milestoneId, project_id: projectId } = data;
      if (projectId === null || authorId === null || !present.has(milestoneId)) return [];
      return [milestoneEntry({ eventId, projectId, authorId, ...actionAndTimeOf(event) }, milestoneId)];
    });
    await this.activity.record(tx, entries);
  }

  private async recordNoteableEntries<E extends NoteableActionEvent>(
    tx: Tx,
    events: readonly E[],
    action: ActivityAction,
    statedTimeOf: (event: E) => string,
  ): Promise<void> {
    const kind = this.kinds.ofEvents(events);
    if (kind.parent === 'group') return;
    const present = await readSubjects(
      tx,
      kind,
      events.map((event) => event.aggregateId),
    );
    const entries = events
      .filter((event) => present.has(event.aggregateId))
      .map((event): ActivityEntry => {
        const { aggregateId: targetId, data } = event;
        const noteable = { noteableType: kind.type, noteableId: targetId };
        const facts = { eventId: event.id, projectId: data.project_id!, authorId: findActorId(event), action };
        return {
          ...facts,
          targetType: kind.type,
          targetId,
          noteable,
          at: resolveEventCauseTime(event, statedTimeOf(event)),
        };
      });
    await this.activity.record(tx, entries);
  }
}

/** Entry of a milestone. `milestoneId` is null if the milestone was deleted. */
function milestoneEntry(
  facts: Pick<ActivityEntry, 'eventId' | 'projectId' | 'authorId' | 'action' | 'at'>,
  milestoneId: number | null,
): ActivityEntry {
  const targetType = ACTIVITY_TARGET_TYPES.milestone;
  const noteable = milestoneId === null ? null : { noteableType: targetType, noteableId: milestoneId };
  return { ...facts, targetType, targetId: milestoneId, noteable };
}

function isProjectMembershipEvent(event: { readonly data: { readonly source_type: string } }): boolean {
  return event.data.source_type === 'project';
}

function projectEntry(
  eventId: string,
  facts: Pick<ActivityEntry, 'projectId' | 'authorId' | 'action' | 'at' | 'importedFrom'>,
): ActivityEntry {
  return { eventId, ...facts, targetType: 'Project', targetId: facts.projectId, noteable: null };
}
