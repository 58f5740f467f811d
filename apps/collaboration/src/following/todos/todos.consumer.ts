import { Controller } from '@nestjs/common';
import { awardEmojiCreated, noteCreated, noteDeleted, noteUpdated, projectDeleted } from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { NamedPeople } from '../../talk/mentions/named-people';
import type { NamedPerson } from '../../talk/mentions/named-people';
import { NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { actorOf, causedAt, textsOf } from '../../base/noteables/subjects';
import { NoteSubjects } from '../../talk/notes/note-subjects';
import type { GoneTarget, TodoCandidate } from './raise-todos';
import { RaiseTodos } from './raise-todos';
import { attachedTodos } from './todo-removal';

type NoteEvent = Delivered<typeof noteCreated> | Delivered<typeof noteUpdated>;
type TextEvent = Delivered<NoteableEvent<'created'>> | Delivered<NoteableEvent<'updated'>>;
type ThingEvent = { readonly aggregateId: number; readonly data: { readonly project_id: number | null } };
type Cause = Omit<TodoCandidate, 'userId' | 'action'>;

/** To-dos that follow from what happens to things and notes. Source: reference work-tracking 6.3, 6.4. */
@Controller()
export class TodosConsumer {
  constructor(
    private readonly todos: RaiseTodos,
    private readonly people: NamedPeople,
    private readonly directory: Directory,
    private readonly notes: NoteSubjects,
    private readonly kinds: NoteableKinds,
  ) {}

  /** A commenter's own older items are settled before the comment raises new ones, their own among them. */
  @Consume(noteCreated, { effect: 'raise-todos' })
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const meant = this.onTargets(events);
    await this.todos.settle(
      tx,
      meant.map((event) => settlement(event, noteTarget(event), event.data.created_at, event.data.thread_id)),
    );
    await this.fromNotes(tx, meant, (event) => causedAt(event, event.data.created_at));
  }

  @Consume(noteUpdated, { effect: 'raise-todos' })
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.fromNotes(tx, this.onTargets(events), (event) => causedAt(event, event.data.changed_at));
  }

  @Consume(noteDeleted, { effect: 'drop-todos' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const gone = this.onTargets(events).map((event) => ({ ...noteTarget(event), noteId: event.data.note_id }));
    await this.todos.dropOfNotes(tx, gone);
  }

  /** An emoji is an answer too, on the thing or on a note. */
  @Consume(awardEmojiCreated, { effect: 'settle-todos' })
  async awarded({ tx, events }: EffectBatch<typeof awardEmojiCreated>): Promise<void> {
    await this.todos.settle(
      tx,
      this.onTargets(events).map((event) => settlement(event, noteTarget(event), event.data.created_at)),
    );
  }

  @Consume(noteables.created, { effect: 'raise-todos' })
  async created({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    const target = this.targetsOf(events);
    if (!target) return;
    const at = (event: (typeof events)[number]): string => causedAt(event, event.data.created_at);
    const assigned = events.flatMap((event) => assignments(event, target(event), event.data.assignee_ids, at(event)));
    if (assigned.length > 0) await this.directory.settledFor(tx, events);
    await this.todos.raise(tx, [...assigned, ...(await this.namedInThings(tx, events, at))]);
  }

  @Consume(noteables.updated, { effect: 'raise-todos' })
  async updated({ tx, events }: EffectBatch<NoteableEvent<'updated'>>): Promise<void> {
    const target = this.targetsOf(events);
    if (!target) return;
    const at = (event: (typeof events)[number]): string => event.data.changed_at;
    await this.todos.settle(
      tx,
      events.filter(settles).map((event) => settlement(event, target(event), at(event))),
    );
    const assigned = events.flatMap((event) =>
      assignments(event, target(event), event.data.added_assignee_ids, at(event)),
    );
    if (assigned.length > 0) await this.directory.settledFor(tx, events);
    const changed = events.filter((event) => event.data.text_changed);
    await this.todos.raise(tx, [...assigned, ...(await this.namedInThings(tx, changed, at))]);
  }

  @Consume(noteables.closed, { effect: 'settle-todos' })
  async closed({ tx, events }: EffectBatch<NoteableEvent<'closed'>>): Promise<void> {
    const target = this.targetsOf(events);
    const settled = target && events.map((event) => settlement(event, target(event), event.data.closed_at));
    await this.todos.settle(tx, settled ?? []);
  }

  @Consume(noteables.reopened, { effect: 'settle-todos' })
  async reopened({ tx, events }: EffectBatch<NoteableEvent<'reopened'>>): Promise<void> {
    const target = this.targetsOf(events);
    const settled = target && events.map((event) => settlement(event, target(event), event.data.reopened_at));
    await this.todos.settle(tx, settled ?? []);
  }

  @Consume(projectDeleted, { effect: 'drop-todos' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    await attachedTodos.drop(tx, 'project', ids);
  }

  /** What the events of a batch are about; null when nobody gets to-dos of its kind. */
  private targetsOf(events: readonly { readonly aggregateType: string }[]): ((event: ThingEvent) => GoneTarget) | null {
    const kind = this.kinds.ofEvents(events);
    if (!kind.abilities.includes('todos')) return null;
    return ({ aggregateId, data }) => ({
      targetType: kind.type,
      targetId: aggregateId,
      projectId: data.project_id,
    });
  }

  /** Notes on things of which people get to-dos. */
  private onTargets<E extends { readonly data: { readonly noteable_type: string } }>(events: readonly E[]): E[] {
    const types = this.kinds.able('todos').map((kind) => kind.type as string);
    return events.filter((event) => types.includes(event.data.noteable_type));
  }

  private async fromNotes<E extends NoteEvent>(tx: Tx, events: readonly E[], at: (event: E) => string): Promise<void> {
    const { present, texts } = await this.notes.textsOf(tx, events);
    if (!texts.some(mayName)) return;
    await this.directory.settledFor(tx, events);
    const named = await this.people.in(tx, texts);
    await this.todos.raise(
      tx,
      present.flatMap(({ event, note }, index) => {
        const target = { targetType: note.noteable_type, targetId: note.noteable_id, noteId: note.note_id };
        const cause = { eventId: event.id, authorId: actorOf(event), ...target, at: at(event) };
        return mentions(cause, named[index]!, namedBefore(event));
      }),
    );
  }

  private async namedInThings<E extends TextEvent>(
    tx: Tx,
    events: readonly E[],
    at: (event: E) => string,
  ): Promise<TodoCandidate[]> {
    const { present, texts } = await textsOf(tx, this.kinds, events);
    if (!texts.some(mayName)) return [];
    const { type: targetType } = this.kinds.ofEvents(events);
    await this.directory.settledFor(tx, events);
    const named = await this.people.in(tx, texts);
    return present.flatMap((event, index) => {
      const target = { targetType, targetId: event.aggregateId, noteId: null };
      const cause = { eventId: event.id, authorId: actorOf(event), ...target, at: at(event) };
      return mentions(cause, named[index]!, namedBefore(event));
    });
  }
}

/** Notes on things that get to-dos always name these. */
function noteTarget({ data }: NoteEvent | Delivered<typeof noteDeleted | typeof awardEmojiCreated>): GoneTarget {
  return { projectId: data.project_id, targetType: data.noteable_type, targetId: data.noteable_id! };
}

function settlement(
  event: Parameters<typeof actorOf>[0] & { readonly time: string },
  target: GoneTarget,
  stated: string,
  threadId: number | null = null,
) {
  return { userId: actorOf(event), ...target, threadId, at: causedAt(event, stated) };
}

/** Taking a thing upon oneself is no answer to what is waiting there. */
function settles({ actorId, data }: Delivered<NoteableEvent<'updated'>>): boolean {
  const { text_changed, added_assignee_ids, removed_assignee_ids, added_label_ids, removed_label_ids } = data;
  if ((added_label_ids?.length ?? 0) + (removed_label_ids?.length ?? 0) > 0) return true;
  return text_changed || removed_assignee_ids.length > 0 || added_assignee_ids.some((id) => id !== actorId);
}

/** Most texts name nobody, and ask nothing of the copy of the directory. */
function mayName(texts: readonly { readonly text: string }[]): boolean {
  return texts.some(({ text }) => text.includes('@'));
}

function namedBefore(event: NoteEvent | TextEvent): readonly number[] {
  return 'mentioned_before' in event.data ? event.data.mentioned_before : [];
}

function assignments(
  event: TextEvent,
  { targetType, targetId }: GoneTarget,
  userIds: readonly number[],
  at: string,
): TodoCandidate[] {
  const cause = { eventId: event.id, authorId: actorOf(event), targetType, targetId, noteId: null, at };
  return userIds.map((userId) => ({ ...cause, userId, action: 'assigned' }));
}

function mentions(cause: Cause, named: readonly NamedPerson[], before: readonly number[]): TodoCandidate[] {
  return named
    .filter((one) => !before.includes(one.userId))
    .map(({ userId, isDirect }) => ({ ...cause, userId, action: isDirect ? 'directly_addressed' : 'mentioned' }));
}
