import { Controller } from '@nestjs/common';
import { noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { Caused } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { labelSubscribers } from '../../planning/labels/labelling/label-subscribers';
import { groupedByKind, NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { actorOf } from '../../base/noteables/subjects';
import type { MailTemplate } from './composing/mail-templates';
import { InvolvedPeople } from './involved-people';
import { Participants } from './participants';
import { QueueMails } from './queue-mails';
import type { Notice } from './queue-mails';

type To = Notice['to'];

/** E-mails have half a second (docs/performance.md 2): what is told meanwhile is queued together (ADR 0025). */
const QUEUEING = { effect: 'queue-mails', gatherMs: 100 };

/** What happens to things and notes becomes e-mails. Source: reference work-tracking 8.3, 8.4. */
@Controller()
export class NotificationsConsumer {
  constructor(
    private readonly mails: QueueMails,
    private readonly participants: Participants,
    private readonly involved: InvolvedPeople,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
  ) {}

  @Consume(noteCreated, QUEUEING)
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const named = await this.involved.ofNotes(tx, events);
    const present = events.filter((event) => named.has(event.id));
    for (const [kind, ofKind] of groupedByKind(this.kinds, present, (event) => event.data.noteable_type)) {
      const notices = ofKind.map((event): Notice => {
        const { note_id: noteId, noteable_id: noteableId } = event.data;
        const told = notice(event, 'note_created', noteableId!, mentioned(named.get(event.id)!));
        return { ...told, noteId, tellsParticipants: true };
      });
      await this.mails.queue(tx, kind, notices);
    }
  }

  /** Nobody gets an e-mail for an edited note, but the newly named take part from now on. */
  @Consume(noteUpdated, QUEUEING)
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.directory.settledFor(tx, events);
    await this.involved.ofNotes(tx, events);
  }

  @Consume(noteables.created, QUEUEING)
  async created({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const named = await this.involved.ofThings(tx, events);
    const followers = await labelSubscribers(
      tx,
      events.map((event) => event.data.label_ids ?? []),
    );
    const notices = events.map((event, index) => {
      const people = [...assigned(event.data.assignee_ids), ...mentioned(named.get(event.id) ?? [])];
      const to = [...people, ...subscribed(followers[index]!)];
      return notice(event, 'created', event.aggregateId, to);
    });
    await this.mails.queue(tx, this.kinds.ofEvents(events), notices);
  }

  /** A new assignment is told to all, a new text only to the newly named; nobody is told both. */
  @Consume(noteables.updated, QUEUEING)
  async updated({ tx, events }: EffectBatch<NoteableEvent<'updated'>>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const named = await this.involved.ofThings(
      tx,
      events.filter((event) => event.data.text_changed),
    );
    const notices = events.map((event): Notice => {
      const { added_assignee_ids: added, removed_assignee_ids: removed, mentioned_before: before } = event.data;
      const fresh = (named.get(event.id) ?? []).filter((id) => !before.includes(id));
      if (added.length + removed.length === 0) {
        return notice(event, 'mentioned', event.aggregateId, mentioned(fresh));
      }
      const to = [...assigned(added), ...mentioned(fresh), ...removed.map((userId) => ({ userId, reason: null }))];
      const told = notice(event, 'reassigned', event.aggregateId, to);
      return { ...told, tellsParticipants: true, details: { added, removed } };
    });
    const kind = this.kinds.ofEvents(events);
    await this.mails.queue(tx, kind, notices);
    await this.mails.queue(tx, kind, await this.relabelled(tx, events));
  }

  @Consume(noteables.closed, QUEUEING)
  closed({ tx, events }: EffectBatch<NoteableEvent<'closed'>>): Promise<void> {
    // Of one that was moved its moving is told.
    const closed = events.filter((event) => event.data.moved !== true);
    return this.stateChanged(tx, closed, 'closed');
  }

  @Consume(noteables.reopened, QUEUEING)
  reopened({ tx, events }: EffectBatch<NoteableEvent<'reopened'>>): Promise<void> {
    return this.stateChanged(tx, events, 'reopened');
  }

  /** Whoever takes part in a thing takes part in what it becomes. Source: reference work-tracking 8.4. */
  @Consume(noteables.moved, QUEUEING)
  async moved({ tx, events }: EffectBatch<NoteableEvent<'moved'>>): Promise<void> {
    await this.directory.settledFor(tx, events);
    const kind = this.kinds.ofEvents(events);
    const moves = events.filter((event) => !event.data.is_clone);
    await this.participants.goWith(
      tx,
      kind,
      moves.map((event) => ({ from: event.aggregateId, to: event.data.became_id })),
    );
    const notices = events.map((event) => ({
      ...notice(event, event.data.is_clone ? 'cloned' : 'moved', event.aggregateId, []),
      tellsParticipants: true,
    }));
    await this.mails.queue(tx, kind, notices);
  }

  /** E-mails that wait are dropped when they are to be sent: what they tell of is gone. */
  @Consume(noteDeleted, { effect: 'drop-participants' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const gone = events
      .filter(({ data }) => this.kinds.of(data.noteable_type))
      .map(({ data: { noteable_type: noteableType, noteable_id: noteableId, note_id: noteId } }) => {
        return { noteableType, noteableId: noteableId!, noteId };
      });
    await this.participants.dropOfNotes(tx, gone);
  }

  /** For those who follow a label that was added. Whoever is told of the event already is not told twice. */
  private async relabelled(tx: Tx, events: readonly Delivered<NoteableEvent<'updated'>>[]): Promise<Notice[]> {
    const added = events.map((event) => event.data.added_label_ids ?? []);
    const followers = await labelSubscribers(tx, added);
    return events.flatMap((event, index) => {
      const to = subscribed(followers[index]!);
      if (to.length === 0) return [];
      return [{ ...notice(event, 'relabelled', event.aggregateId, to), details: { labels: added[index] } }];
    });
  }

  private async stateChanged(tx: Tx, events: readonly ThingEvent[], told: MailTemplate): Promise<void> {
    if (events.length === 0) return;
    await this.directory.settledFor(tx, events);
    const notices = events.map((event) => ({
      ...notice(event, told, event.aggregateId, []),
      tellsParticipants: true,
    }));
    await this.mails.queue(tx, this.kinds.ofEvents(events), notices);
  }
}

type ThingEvent = Caused &
  Parameters<typeof actorOf>[0] & {
    readonly id: string;
    readonly aggregateType: string;
    readonly aggregateId: number;
  };

function notice(
  event: { readonly id: string } & Parameters<typeof actorOf>[0],
  told: MailTemplate,
  noteableId: number,
  to: To,
): Notice {
  return { eventId: event.id, told, actorId: actorOf(event), noteableId, noteId: null, tellsParticipants: false, to };
}

const mentioned = (userIds: readonly number[]): To => userIds.map((userId) => ({ userId, reason: 'mentioned' }));
const assigned = (userIds: readonly number[]): To => userIds.map((userId) => ({ userId, reason: 'assigned' }));
const subscribed = (userIds: readonly number[]): To => userIds.map((userId) => ({ userId, reason: 'subscribed' }));
