import { Controller } from '@nestjs/common';
import {
  awardEmojiCreated,
  mergeRequestApprovalRequested,
  noteCreated,
  noteDeleted,
  noteUpdated,
  projectDeleted,
} from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { UserMentions } from '../../talk/mentions/user-mentions';
import type { MentionedUser } from '../../talk/mentions/user-mentions';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { findActorId, resolveEventCauseTime, readAuthoredTexts } from '../../base/noteables/subjects';
import { NoteSubjects } from '../../talk/notes/note-subjects';
import type { DeletedTarget, Settlement, TodoCandidate } from './todo-recorder';
import { TodoRecorder } from './todo-recorder';
import { attachedTodos } from './todo-removal';

type NoteEvent = Delivered<typeof noteCreated> | Delivered<typeof noteUpdated>;
type TextEvent = Delivered<NoteableEvent<'created'>> | Delivered<NoteableEvent<'updated'>>;
type NoteableEventFacts = { readonly aggregateId: number; readonly data: { readonly project_id: number | null } };
type TodoCause = Omit<TodoCandidate, 'userId' | 'action'>;

/** Raises and settles to-dos after events of noteables and notes. Source: reference work-tracking 6.3, 6.4. */
@Controller()
export class TodosConsumer {
  constructor(
    private readonly todos: TodoRecorder,
    private readonly people: UserMentions,
    private readonly directory: Directory,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
  ) {}

  /** Settles the commenter's older to-dos before the comment raises new ones, also for the commenter. */
  @Consume(noteCreated, { effect: 'raise-todos' })
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const relevant = this.filterEventsWithTodoTargets(events);
    await this.todos.settleTodos(
      tx,
      relevant.map((event) =>
        createTodoSettlement(event, toTargetOfNoteEvent(event), event.data.created_at, event.data.thread_id),
      ),
    );
    await this.raiseMentionTodosOfNotes(tx, relevant, (event) => resolveEventCauseTime(event, event.data.created_at));
  }

  @Consume(noteUpdated, { effect: 'raise-todos' })
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.raiseMentionTodosOfNotes(tx, this.filterEventsWithTodoTargets(events), (event) =>
      resolveEventCauseTime(event, event.data.changed_at),
    );
  }

  @Consume(noteDeleted, { effect: 'drop-todos' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const gone = this.filterEventsWithTodoTargets(events).map((event) => ({
      ...toTargetOfNoteEvent(event),
      noteId: event.data.note_id,
    }));
    await this.todos.dropOfNotes(tx, gone);
  }

  /** An emoji on the noteable or a note settles to-dos too. */
  @Consume(awardEmojiCreated, { effect: 'settle-todos' })
  async settleOnAward({ tx, events }: EffectBatch<typeof awardEmojiCreated>): Promise<void> {
    await this.todos.settleTodos(
      tx,
      this.filterEventsWithTodoTargets(events).map((event) =>
        createTodoSettlement(event, toTargetOfNoteEvent(event), event.data.created_at),
      ),
    );
  }

  @Consume(noteables.created, { effect: 'raise-todos' })
  async raiseOnCreation({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    if (!target) return;
    const at = (event: (typeof events)[number]): string => resolveEventCauseTime(event, event.data.created_at);
    const assigned = events.flatMap((event) => [
      ...createRequestedTodos('assigned', event, target(event), event.data.assignee_ids, at(event)),
      ...createRequestedTodos('review_requested', event, target(event), event.data.reviewer_ids, at(event)),
    ]);
    if (assigned.length > 0) await this.directory.assertCurrentFor(tx, events);
    await this.todos.raiseTodos(tx, [...assigned, ...(await this.findMentionTodosOfNoteables(tx, events, at))]);
  }

  @Consume(noteables.updated, { effect: 'raise-todos' })
  async raiseOnUpdate({ tx, events }: EffectBatch<NoteableEvent<'updated'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    if (!target) return;
    const at = (event: (typeof events)[number]): string => event.data.changed_at;
    await this.todos.settleTodos(tx, [
      ...events
        .filter(doesUpdateSettleActorTodos)
        .map((event) => createTodoSettlement(event, target(event), at(event))),
      ...events.flatMap((event) => createWithdrawnReviewSettlements(event, target(event))),
    ]);
    const assigned = events.flatMap((event) => [
      ...createRequestedTodos('assigned', event, target(event), event.data.added_assignee_ids, at(event)),
      ...createRequestedTodos('review_requested', event, target(event), event.data.added_reviewer_ids, at(event)),
    ]);
    if (assigned.length > 0) await this.directory.assertCurrentFor(tx, events);
    const changed = events.filter((event) => event.data.text_changed);
    await this.todos.raiseTodos(tx, [...assigned, ...(await this.findMentionTodosOfNoteables(tx, changed, at))]);
  }

  @Consume(noteables.closed, { effect: 'settle-todos' })
  async settleOnClosing({ tx, events }: EffectBatch<NoteableEvent<'closed'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    const settled = target && events.map((event) => createTodoSettlement(event, target(event), event.data.closed_at));
    await this.todos.settleTodos(tx, settled ?? []);
    await this.todos.settleForAll(tx, 'unmergeable', keepMergeRequestSettlements(settled ?? []));
  }

  @Consume(noteables.reopened, { effect: 'settle-todos' })
  async settleOnReopening({ tx, events }: EffectBatch<NoteableEvent<'reopened'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    const settled = target && events.map((event) => createTodoSettlement(event, target(event), event.data.reopened_at));
    await this.todos.settleTodos(tx, settled ?? []);
  }

  @Consume(noteables.merged, { effect: 'settle-todos' })
  async settleOnMerge({ tx, events }: EffectBatch<NoteableEvent<'merged'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    const settled = target && events.map((event) => createTodoSettlement(event, target(event), event.data.merged_at));
    await this.todos.settleTodos(tx, settled ?? []);
    await this.todos.settleForAll(tx, 'unmergeable', keepMergeRequestSettlements(settled ?? []));
  }

  @Consume(noteables.approved, { effect: 'settle-todos' })
  async settleOnApproval({ tx, events }: EffectBatch<NoteableEvent<'approved'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    const settled = target && events.map((event) => createTodoSettlement(event, target(event), event.data.approved_at));
    await this.todos.settleTodos(tx, settled ?? []);
  }

  /** A push of the source branch settles the to-dos of the user who pushed. */
  @Consume(noteables.progressed, { effect: 'settle-todos' })
  async settleOnPush({ tx, events }: EffectBatch<NoteableEvent<'progressed'>>): Promise<void> {
    const target = this.createTargetMapper(events);
    const pushed = target ? events.filter(({ data }) => data.step === 'pushed') : [];
    await this.todos.settleTodos(
      tx,
      pushed.map((event) => createTodoSettlement(event, target!(event), event.data.progressed_at)),
    );
  }

  @Consume(mergeRequestApprovalRequested, { effect: 'raise-todos' })
  async approvalRequested({ tx, events }: EffectBatch<typeof mergeRequestApprovalRequested>): Promise<void> {
    const target = this.createTargetMapper(events);
    if (!target) return;
    await this.directory.assertCurrentFor(tx, events);
    const candidates = events.flatMap((event) =>
      createRequestedTodos('approval_required', event, target(event), event.data.approver_ids, event.data.requested_at),
    );
    await this.todos.raiseTodos(tx, candidates);
  }

  @Consume(projectDeleted, { effect: 'drop-todos' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.assertDeleted(tx, 'project', events, ids);
    await attachedTodos.deleteRows(tx, 'project', ids);
  }

  /** Returns a function from an event to its target; null if the kind has no to-dos. */
  private createTargetMapper(
    events: readonly { readonly aggregateType: string }[],
  ): ((event: NoteableEventFacts) => DeletedTarget) | null {
    const kind = this.kinds.ofEvents(events);
    if (!kind.abilities.includes('todos')) return null;
    return ({ aggregateId, data }) => ({
      targetType: kind.type,
      targetId: aggregateId,
      projectId: data.project_id,
    });
  }

  /** Filters events of notes on noteables whose kind has to-dos. */
  private filterEventsWithTodoTargets<E extends { readonly data: { readonly noteable_type: string } }>(
    events: readonly E[],
  ): E[] {
    const types = this.kinds.withAbility('todos').map((kind) => kind.type as string);
    return events.filter((event) => types.includes(event.data.noteable_type));
  }

  private async raiseMentionTodosOfNotes<E extends NoteEvent>(
    tx: Tx,
    events: readonly E[],
    at: (event: E) => string,
  ): Promise<void> {
    const { present, texts } = await this.notes.readTexts(tx, events);
    if (!texts.some(mayTextsContainMention)) return;
    await this.directory.assertCurrentFor(tx, events);
    const mentionedUsers = await this.people.listMentioned(tx, texts);
    await this.todos.raiseTodos(
      tx,
      present.flatMap(({ event, note }, index) => {
        const target = { targetType: note.noteable_type, targetId: note.noteable_id, noteId: note.note_id };
        const cause = { eventId: event.id, authorId: findActorId(event), ...target, at: at(event) };
        return createMentionTodos(cause, mentionedUsers[index]!, previouslyMentionedIds(event));
      }),
    );
  }

  private async findMentionTodosOfNoteables<E extends TextEvent>(
    tx: Tx,
    events: readonly E[],
    at: (event: E) => string,
  ): Promise<TodoCandidate[]> {
    const { present, texts } = await readAuthoredTexts(tx, this.kinds, events);
    if (!texts.some(mayTextsContainMention)) return [];
    const { type: targetType } = this.kinds.ofEvents(events);
    await this.directory.assertCurrentFor(tx, events);
    const mentionedUsers = await this.people.listMentioned(tx, texts);
    return present.flatMap((event, index) => {
      const target = { targetType, targetId: event.aggregateId, noteId: null };
      const cause = { eventId: event.id, authorId: findActorId(event), ...target, at: at(event) };
      return createMentionTodos(cause, mentionedUsers[index]!, previouslyMentionedIds(event));
    });
  }
}

/** Returns the to-do target of a note's event. Notes on noteables with to-dos always have the id of the noteable. */
function toTargetOfNoteEvent({
  data,
}: NoteEvent | Delivered<typeof noteDeleted | typeof awardEmojiCreated>): DeletedTarget {
  return { projectId: data.project_id, targetType: data.noteable_type, targetId: data.noteable_id! };
}

function createTodoSettlement(
  event: Parameters<typeof findActorId>[0] & { readonly time: string },
  target: DeletedTarget,
  statedTime: string,
  threadId: number | null = null,
) {
  return {
    userId: findActorId(event),
    ...target,
    threadId,
    action: null,
    at: resolveEventCauseTime(event, statedTime),
  };
}

/** Closed merge requests have no conflicts that matter. */
function keepMergeRequestSettlements(settled: readonly Settlement[]): Settlement[] {
  return settled.filter(({ targetType }) => targetType === 'MergeRequest');
}

/** Settles the requests for reviews of users who are no longer asked. */
function createWithdrawnReviewSettlements(
  { data }: Delivered<NoteableEvent<'updated'>>,
  target: DeletedTarget,
): Settlement[] {
  const action = 'review_requested';
  return (data.removed_reviewer_ids ?? []).map((userId) => {
    return { userId, ...target, threadId: null, action, at: data.changed_at };
  });
}

/** Whether an update settles the actor's to-dos. Assigning oneself does not, and neither does reviewing. */
function doesUpdateSettleActorTodos({ actorId, data }: Delivered<NoteableEvent<'updated'>>): boolean {
  const { text_changed, added_assignee_ids, removed_assignee_ids, added_label_ids, removed_label_ids, milestone_id } =
    data;
  const { added_reviewer_ids: added = [], removed_reviewer_ids: removed = [] } = data;
  if (removed.length > 0 || added.some((id) => id !== actorId)) return true;
  if ((added_label_ids?.length ?? 0) + (removed_label_ids?.length ?? 0) > 0) return true;
  if (milestone_id !== undefined) return true;
  return text_changed || removed_assignee_ids.length > 0 || added_assignee_ids.some((id) => id !== actorId);
}

/** Whether a text may mention a user. Most do not and need no read of the directory. */
function mayTextsContainMention(texts: readonly { readonly text: string }[]): boolean {
  return texts.some(({ text }) => text.includes('@'));
}

function previouslyMentionedIds(event: NoteEvent | TextEvent): readonly number[] {
  return 'mentioned_before' in event.data ? event.data.mentioned_before : [];
}

function createRequestedTodos(
  action: 'assigned' | 'review_requested' | 'approval_required',
  event: TextEvent | Delivered<typeof mergeRequestApprovalRequested>,
  { targetType, targetId }: DeletedTarget,
  userIds: readonly number[] | undefined,
  at: string,
): TodoCandidate[] {
  const cause = { eventId: event.id, authorId: findActorId(event), targetType, targetId, noteId: null, at };
  return (userIds ?? []).map((userId) => ({ ...cause, userId, action }));
}

function createMentionTodos(
  cause: TodoCause,
  mentionedUsers: readonly MentionedUser[],
  previouslyMentioned: readonly number[],
): TodoCandidate[] {
  return mentionedUsers
    .filter((one) => !previouslyMentioned.includes(one.userId))
    .map(({ userId, isDirect }) => ({ ...cause, userId, action: isDirect ? 'directly_addressed' : 'mentioned' }));
}
