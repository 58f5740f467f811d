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
import { NamedPeople } from '../audience/named-people';
import { issueSubjects, noteSubjects } from '../audience/subjects';
import type { MailTemplate } from './mail-templates';
import { Participants } from './participants';
import { QueueMails } from './queue-mails';
import type { Notice } from './queue-mails';

type IssueEvent = Delivered<typeof issueCreated | typeof issueUpdated | typeof issueClosed | typeof issueReopened>;
type Told = Notice['told'];
/** Whom the text of an event's subject names, by the event's id. */
type Named = ReadonlyMap<string, readonly number[]>;

/** E-mails have half a second (performance P7): what is told meanwhile is queued together (ADR 0146). */
const QUEUEING = { effect: 'queue-mails', gatherMs: 100 };

/** What happens to issues and notes becomes e-mails. Source: reference work-tracking 8.3, 8.4. */
@Controller()
export class NotificationsConsumer {
  constructor(
    private readonly mails: QueueMails,
    private readonly participants: Participants,
    private readonly people: NamedPeople,
    private readonly directory: Directory,
  ) {}

  @Consume(noteCreated, QUEUEING)
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    await this.directory.settled(tx);
    const named = await this.namedInNotes(tx, events);
    const notices = events
      .filter((event) => named.has(event.id))
      .map((event): Notice => {
        const { note_id: noteId, noteable_id: issueId } = event.data;
        const told = mentioned(named.get(event.id)!);
        return { ...notice(event, 'note_created', issueId!, told), noteId, tellsParticipants: true };
      });
    await this.mails.queue(tx, notices);
  }

  /** Nobody gets an e-mail for an edited note, but the newly named take part from now on. */
  @Consume(noteUpdated, QUEUEING)
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.namedInNotes(tx, events);
  }

  @Consume(issueCreated, QUEUEING)
  async issueCreated({ tx, events }: EffectBatch<typeof issueCreated>): Promise<void> {
    await this.directory.settled(tx);
    const named = await this.namedInIssues(tx, events);
    await this.mails.queue(
      tx,
      events.map((event) => {
        const told = [...assigned(event.data.assignee_ids), ...mentioned(named.get(event.id) ?? [])];
        return notice(event, 'issue_created', event.data.issue_id, told);
      }),
    );
  }

  /** A new assignment is told to all, a new text only to the newly named; nobody is told both. */
  @Consume(issueUpdated, QUEUEING)
  async issueUpdated({ tx, events }: EffectBatch<typeof issueUpdated>): Promise<void> {
    await this.directory.settled(tx);
    const named = await this.namedInIssues(
      tx,
      events.filter((event) => event.data.text_changed),
    );
    const notices = events.map((event): Notice => {
      const { issue_id: issueId, added_assignee_ids: added, removed_assignee_ids: removed } = event.data;
      const fresh = (named.get(event.id) ?? []).filter((id) => !event.data.mentioned_before.includes(id));
      if (added.length + removed.length === 0) return notice(event, 'issue_mentioned', issueId, mentioned(fresh));
      const before = removed.map((userId) => ({ userId, reason: null }));
      const told = [...assigned(added), ...mentioned(fresh), ...before];
      return {
        ...notice(event, 'issue_reassigned', issueId, told),
        tellsParticipants: true,
        details: { added, removed },
      };
    });
    await this.mails.queue(tx, notices);
  }

  @Consume(issueClosed, QUEUEING)
  issueClosed({ tx, events }: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.stateChanged(tx, events, 'issue_closed');
  }

  @Consume(issueReopened, QUEUEING)
  issueReopened({ tx, events }: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.stateChanged(tx, events, 'issue_reopened');
  }

  /** E-mails that wait are dropped when they are to be sent: what they tell of is gone. */
  @Consume(noteDeleted, { effect: 'drop-participants' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const onIssues = events.filter((event) => event.data.noteable_type === 'Issue');
    const gone = onIssues.map(({ data }) => ({ issueId: data.noteable_id!, noteId: data.note_id }));
    await this.participants.dropOfNotes(tx, gone);
  }

  @Consume(issueDeleted, { effect: 'drop-participants' })
  async issueDeleted({ tx, events }: EffectBatch<typeof issueDeleted>): Promise<void> {
    await this.participants.dropOfIssues(
      tx,
      events.map((event) => event.data.issue_id),
    );
  }

  @Consume(projectDeleted, { effect: 'drop-participants' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    await this.participants.dropOfProjects(
      tx,
      events.map((event) => event.data.project_id),
    );
  }

  private async stateChanged(tx: Tx, events: readonly IssueEvent[], template: MailTemplate): Promise<void> {
    await this.directory.settled(tx);
    const notices = events.map((event) => notice(event, template, event.data.issue_id, []));
    await this.mails.queue(
      tx,
      notices.map((one) => ({ ...one, tellsParticipants: true })),
    );
  }

  /** Writers and the named become participants. Shape: notes that are gone meanwhile have no entry. */
  private async namedInNotes(
    tx: Tx,
    events: readonly Delivered<typeof noteCreated | typeof noteUpdated>[],
  ): Promise<Named> {
    const notes = await noteSubjects(
      tx,
      events.map((event) => event.data.note_id),
    );
    const present = events.flatMap((event) => {
      const note = notes.get(event.data.note_id);
      return note ? [{ event, note }] : [];
    });
    const texts = present.map(({ note }) => ({
      projectId: note.project_id,
      authorId: note.author_id,
      text: note.body,
    }));
    const named = (await this.people.in(tx, texts)).map((people) => people.map((one) => one.userId));
    await this.participants.add(
      tx,
      present.flatMap(({ note }, index) =>
        [note.author_id, ...named[index]!].map((userId) => ({ issueId: note.issue_id, userId, noteId: note.note_id })),
      ),
    );
    return new Map(present.map(({ event }, index) => [event.id, named[index]!]));
  }

  private async namedInIssues(
    tx: Tx,
    events: readonly Delivered<typeof issueCreated | typeof issueUpdated>[],
  ): Promise<Named> {
    const issues = await issueSubjects(
      tx,
      events.map((event) => event.data.issue_id),
    );
    const present = events.filter((event) => issues.has(event.data.issue_id));
    const texts = present.map((event) => {
      const issue = issues.get(event.data.issue_id)!;
      return { projectId: issue.project_id, authorId: actorOf(event), text: issue.text };
    });
    const named = (await this.people.in(tx, texts)).map((people) => people.map((one) => one.userId));
    await this.participants.add(
      tx,
      present.flatMap(({ data }, index) =>
        named[index]!.map((userId) => ({ issueId: data.issue_id, userId, noteId: null })),
      ),
    );
    return new Map(present.map((event, index) => [event.id, named[index]!]));
  }
}

function actorOf(event: { readonly actorId: number | null; readonly data: { readonly author_id: number } }): number {
  return event.actorId ?? event.data.author_id;
}

function notice(
  event: { readonly id: string } & Parameters<typeof actorOf>[0],
  template: MailTemplate,
  issueId: number,
  told: Told,
): Notice {
  return {
    eventId: event.id,
    template,
    actorId: actorOf(event),
    issueId,
    noteId: null,
    tellsParticipants: false,
    told,
  };
}

const mentioned = (userIds: readonly number[]): Told => userIds.map((userId) => ({ userId, reason: 'mentioned' }));
const assigned = (userIds: readonly number[]): Told => userIds.map((userId) => ({ userId, reason: 'assigned' }));
