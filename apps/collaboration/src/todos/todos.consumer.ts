import { Controller } from '@nestjs/common';
import {
  issueClosed,
  issueCreated,
  issueDeleted,
  issueReopened,
  issueUpdated,
  noteCreated,
  noteDeleted,
  noteUpdated,
  projectDeleted,
} from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { causedAt } from '../audience/cause';
import { NamedPeople } from '../audience/named-people';
import type { NamedPerson } from '../audience/named-people';
import { issueSubjects, noteSubjects } from '../audience/subjects';
import type { TodoCandidate } from './raise-todos';
import { RaiseTodos } from './raise-todos';

type NoteEvent = Delivered<typeof noteCreated> | Delivered<typeof noteUpdated>;
type IssueEvent = Delivered<typeof issueCreated> | Delivered<typeof issueUpdated>;
type Cause = Omit<TodoCandidate, 'userId' | 'action'>;

/** To-dos that follow from what happens to issues and notes. Source: reference work-tracking 6.3, 6.4. */
@Controller()
export class TodosConsumer {
  constructor(
    private readonly todos: RaiseTodos,
    private readonly people: NamedPeople,
    private readonly directory: Directory,
  ) {}

  /** A commenter's own older items are settled before the comment raises new ones, his own among them. */
  @Consume(noteCreated, { effect: 'raise-todos' })
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const onIssues = events.filter(isOnIssue);
    await this.todos.settle(
      tx,
      onIssues.map((event) => settlement(event, noteTarget(event), event.data.created_at)),
    );
    await this.fromNotes(tx, onIssues, (event) => causedAt(event, event.data.created_at));
  }

  @Consume(noteUpdated, { effect: 'raise-todos' })
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.fromNotes(tx, events.filter(isOnIssue), (event) => causedAt(event, event.data.changed_at));
  }

  @Consume(noteDeleted, { effect: 'drop-todos' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const gone = events.filter(isOnIssue).map((event) => ({ ...noteTarget(event), noteId: event.data.note_id }));
    await this.todos.dropOfNotes(tx, gone);
  }

  @Consume(issueCreated, { effect: 'raise-todos' })
  async issueCreated({ tx, events }: EffectBatch<typeof issueCreated>): Promise<void> {
    const at = (event: Delivered<typeof issueCreated>): string => causedAt(event, event.data.created_at);
    const assigned = events.flatMap((event) => assignments(event, event.data.assignee_ids, at(event)));
    await this.todos.raise(tx, [...assigned, ...(await this.namedInIssues(tx, events, at))]);
  }

  @Consume(issueUpdated, { effect: 'raise-todos' })
  async issueUpdated({ tx, events }: EffectBatch<typeof issueUpdated>): Promise<void> {
    const at = (event: Delivered<typeof issueUpdated>): string => event.data.changed_at;
    await this.todos.settle(
      tx,
      events.filter(settles).map((event) => settlement(event, issueTarget(event), at(event))),
    );
    const assigned = events.flatMap((event) => assignments(event, event.data.added_assignee_ids, at(event)));
    const changed = events.filter((event) => event.data.text_changed);
    await this.todos.raise(tx, [...assigned, ...(await this.namedInIssues(tx, changed, at))]);
  }

  @Consume(issueClosed, { effect: 'settle-todos' })
  async issueClosed({ tx, events }: EffectBatch<typeof issueClosed>): Promise<void> {
    await this.todos.settle(
      tx,
      events.map((event) => settlement(event, issueTarget(event), event.data.closed_at)),
    );
  }

  @Consume(issueReopened, { effect: 'settle-todos' })
  async issueReopened({ tx, events }: EffectBatch<typeof issueReopened>): Promise<void> {
    await this.todos.settle(
      tx,
      events.map((event) => settlement(event, issueTarget(event), event.data.reopened_at)),
    );
  }

  @Consume(issueDeleted, { effect: 'drop-todos' })
  async issueDeleted({ tx, events }: EffectBatch<typeof issueDeleted>): Promise<void> {
    await this.todos.dropOfIssues(tx, events.map(issueTarget));
  }

  @Consume(projectDeleted, { effect: 'drop-todos' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    await this.todos.dropOfProjects(
      tx,
      events.map((event) => event.data.project_id),
    );
  }

  private async fromNotes<E extends NoteEvent>(tx: Tx, events: readonly E[], at: (event: E) => string): Promise<void> {
    const notes = await noteSubjects(
      tx,
      events.map((event) => event.data.note_id),
    );
    const present = events.flatMap((event) => {
      const note = notes.get(event.data.note_id);
      return note ? [{ event, note }] : [];
    });
    const named = await this.people.in(
      tx,
      present.map(({ note }) => ({ projectId: note.project_id, authorId: note.author_id, text: note.body })),
    );
    if (!named.some((people) => people.length > 0)) return;
    await this.directory.settled(tx);
    await this.todos.raise(
      tx,
      present.flatMap(({ event, note }, index) => {
        const { id: eventId } = event;
        const cause = {
          eventId,
          authorId: actorOf(event),
          issueId: note.issue_id,
          noteId: note.note_id,
          at: at(event),
        };
        return mentions(cause, named[index]!, namedBefore(event));
      }),
    );
  }

  private async namedInIssues<E extends IssueEvent>(
    tx: Tx,
    events: readonly E[],
    at: (event: E) => string,
  ): Promise<TodoCandidate[]> {
    const issues = await issueSubjects(
      tx,
      events.map((event) => event.data.issue_id),
    );
    const present = events.filter((event) => issues.has(event.data.issue_id));
    const texts = present.map((event) => {
      const issue = issues.get(event.data.issue_id)!;
      return { projectId: issue.project_id, authorId: actorOf(event), text: issue.text };
    });
    const named = await this.people.in(tx, texts);
    if (named.some((people) => people.length > 0)) await this.directory.settled(tx);
    return present.flatMap((event, index) => {
      const cause = { eventId: event.id, authorId: actorOf(event), issueId: event.data.issue_id, noteId: null };
      return mentions({ ...cause, at: at(event) }, named[index]!, namedBefore(event));
    });
  }
}

function isOnIssue(event: { readonly data: { readonly noteable_type: string } }): boolean {
  return event.data.noteable_type === 'Issue';
}

/** Notes on issues always have both. */
function noteTarget(event: NoteEvent | Delivered<typeof noteDeleted>): { projectId: number; issueId: number } {
  return { projectId: event.data.project_id!, issueId: event.data.noteable_id! };
}

function issueTarget(event: { readonly data: { readonly issue_id: number; readonly project_id: number } }) {
  return { projectId: event.data.project_id, issueId: event.data.issue_id };
}

function actorOf(event: { readonly actorId: number | null; readonly data: { readonly author_id: number } }): number {
  return event.actorId ?? event.data.author_id;
}

function settlement(
  event: Parameters<typeof actorOf>[0] & { readonly time: string },
  target: { projectId: number; issueId: number },
  stated: string,
) {
  return { userId: actorOf(event), ...target, at: causedAt(event, stated) };
}

/** Taking an issue upon oneself is no answer to what is waiting there. */
function settles({ actorId, data }: Delivered<typeof issueUpdated>): boolean {
  const { text_changed, added_assignee_ids, removed_assignee_ids } = data;
  return text_changed || removed_assignee_ids.length > 0 || added_assignee_ids.some((id) => id !== actorId);
}

function namedBefore(event: NoteEvent | IssueEvent): readonly number[] {
  return 'mentioned_before' in event.data ? event.data.mentioned_before : [];
}

function assignments(event: IssueEvent, userIds: readonly number[], at: string): TodoCandidate[] {
  const cause = { eventId: event.id, authorId: actorOf(event), issueId: event.data.issue_id, noteId: null, at };
  return userIds.map((userId) => ({ ...cause, userId, action: 'assigned' }));
}

function mentions(cause: Cause, named: readonly NamedPerson[], before: readonly number[]): TodoCandidate[] {
  return named
    .filter((one) => !before.includes(one.userId))
    .map(({ userId, isDirect }) => ({ ...cause, userId, action: isDirect ? 'directly_addressed' : 'mentioned' }));
}
