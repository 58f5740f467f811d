import { Controller } from '@nestjs/common';
import { noteCreated, noteDeleted, noteUpdated } from '@rookery/contracts';
import type { NoteableEvent } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import type { EventCause } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { findLabelSubscribers } from '../../planning/labels/labelling/label-subscribers';
import { groupedByKind, NoteableKinds, noteables } from '../../base/noteables/noteable-kinds';
import { findActorId } from '../../base/noteables/subjects';
import type { MailTemplate } from './composing/mail-templates';
import { ParticipantRecorder } from './participant-recorder';
import { Participants } from './participants';
import { NoteableMailEnqueuer } from './noteable-mail-enqueuer';
import type { Notice } from './noteable-mail-enqueuer';

type NoticeRecipients = Notice['to'];

/** E-mails may take half a second (docs/performance.md 2), so events of 100 ms are queued together (ADR 0025). */
const QUEUEING = { effect: 'queue-mails', gatherMs: 100 };

/** Queues e-mails about events of noteables and notes. Source: reference work-tracking 8.3, 8.4. */
@Controller()
export class NotificationsConsumer {
  constructor(
    private readonly mails: NoteableMailEnqueuer,
    private readonly participants: Participants,
    private readonly recorder: ParticipantRecorder,
    private readonly directory: Directory,
    private readonly kinds: NoteableKinds,
  ) {}

  @Consume(noteCreated, QUEUEING)
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const mentionedUsers = await this.recorder.recordFromNotes(tx, events);
    const present = events.filter((event) => mentionedUsers.has(event.id));
    for (const [kind, ofKind] of groupedByKind(this.kinds, present, (event) => event.data.noteable_type)) {
      const notices = ofKind.map((event): Notice => {
        const { note_id: noteId, noteable_id: noteableId } = event.data;
        const ofNote = createNotice(
          event,
          'note_created',
          noteableId!,
          mentionedRecipients(mentionedUsers.get(event.id)!),
        );
        return { ...ofNote, noteId, isForParticipants: true };
      });
      await this.mails.queueMails(tx, kind, notices);
    }
  }

  /** Sends no e-mail for an edited note, but the newly mentioned users become participants. */
  @Consume(noteUpdated, QUEUEING)
  async noteUpdated({ tx, events }: EffectBatch<typeof noteUpdated>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    await this.recorder.recordFromNotes(tx, events);
  }

  @Consume(noteables.created, QUEUEING)
  async notifyOfCreation({ tx, events }: EffectBatch<NoteableEvent<'created'>>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const mentionedUsers = await this.recorder.recordFromNoteables(tx, events);
    const followers = await findLabelSubscribers(
      tx,
      events.map((event) => event.data.label_ids ?? []),
    );
    const notices = events.map((event, index) => {
      const { assignee_ids: assignees, reviewer_ids: reviewers = [] } = event.data;
      const people = [
        ...assignedRecipients(assignees),
        ...reviewerRecipients(reviewers),
        ...mentionedRecipients(mentionedUsers.get(event.id) ?? []),
      ];
      const to = [...people, ...subscribedRecipients(followers[index]!)];
      return createNotice(event, 'created', event.aggregateId, to);
    });
    await this.mails.queueMails(tx, this.kinds.ofEvents(events), notices);
  }

  /** A new assignment goes to all participants, a new text only to the newly mentioned users; no user gets both. */
  @Consume(noteables.updated, QUEUEING)
  async notifyOfUpdate({ tx, events }: EffectBatch<NoteableEvent<'updated'>>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const mentionedUsers = await this.recorder.recordFromNoteables(
      tx,
      events.filter((event) => event.data.text_changed),
    );
    const notices = events.map((event): Notice => {
      const { added_assignee_ids: added, removed_assignee_ids: removed, mentioned_before: before } = event.data;
      const fresh = (mentionedUsers.get(event.id) ?? []).filter((id) => !before.includes(id));
      if (added.length + removed.length === 0) {
        return createNotice(event, 'mentioned', event.aggregateId, mentionedRecipients(fresh));
      }
      const to = [
        ...assignedRecipients(added),
        ...mentionedRecipients(fresh),
        ...removed.map((userId) => ({ userId, reason: null })),
      ];
      const reassigned = createNotice(event, 'reassigned', event.aggregateId, to);
      return { ...reassigned, isForParticipants: true, details: { added, removed } };
    });
    const kind = this.kinds.ofEvents(events);
    await this.mails.queueMails(tx, kind, notices);
    await this.mails.queueMails(tx, kind, events.flatMap(createReviewerChangeNotices));
    await this.mails.queueMails(tx, kind, events.flatMap(createMilestoneChangeNotices));
    await this.mails.queueMails(tx, kind, await this.createLabelNotices(tx, events));
  }

  @Consume(noteables.closed, QUEUEING)
  notifyOfClosing({ tx, events }: EffectBatch<NoteableEvent<'closed'>>): Promise<void> {
    // A moved noteable is closed too, but participants get the e-mail about the move.
    const closed = events.filter((event) => event.data.moved !== true);
    return this.queueStateNotices(tx, closed, 'closed');
  }

  @Consume(noteables.reopened, QUEUEING)
  notifyOfReopening({ tx, events }: EffectBatch<NoteableEvent<'reopened'>>): Promise<void> {
    return this.queueStateNotices(tx, events, 'reopened');
  }

  @Consume(noteables.merged, QUEUEING)
  notifyOfMerge({ tx, events }: EffectBatch<NoteableEvent<'merged'>>): Promise<void> {
    return this.queueStateNotices(tx, events, 'merged', (event) => event.data.automatic === true);
  }

  @Consume(noteables.approved, QUEUEING)
  notifyOfApproval({ tx, events }: EffectBatch<NoteableEvent<'approved'>>): Promise<void> {
    return this.queueStateNotices(tx, events, 'approved');
  }

  @Consume(noteables.progressed, QUEUEING)
  async notifyOfProgress({ tx, events }: EffectBatch<NoteableEvent<'progressed'>>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const notices = events.map((event): Notice => {
      const { step, user_ids: users, commit_count: commits } = event.data;
      const to = (users ?? []).map((userId) => ({ userId, reason: null }));
      const details = commits === undefined ? {} : { commits };
      // The platform finds conflicts, but the event names the author as actor, so the author must be notified explicitly.
      const isForActor = step === 'conflicting';
      return {
        ...createNotice(event, step, event.aggregateId, to),
        isForParticipants: users === undefined,
        isForActor,
        details,
      };
    });
    await this.mails.queueMails(tx, this.kinds.ofEvents(events), notices);
  }

  @Consume(noteables.unapproved, QUEUEING)
  notifyOfUnapproval({ tx, events }: EffectBatch<NoteableEvent<'unapproved'>>): Promise<void> {
    return this.queueStateNotices(tx, events, 'unapproved');
  }

  /** Participants of a moved noteable become participants of its successor. Source: reference work-tracking 8.4. */
  @Consume(noteables.moved, QUEUEING)
  async notifyOfMove({ tx, events }: EffectBatch<NoteableEvent<'moved'>>): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    const kind = this.kinds.ofEvents(events);
    const moves = events.filter((event) => !event.data.is_clone);
    await this.participants.copyToMoved(
      tx,
      kind,
      moves.map((event) => ({ from: event.aggregateId, to: event.data.became_id })),
    );
    const notices = events.map((event) => ({
      ...createNotice(event, event.data.is_clone ? 'cloned' : 'moved', event.aggregateId, []),
      isForParticipants: true,
    }));
    await this.mails.queueMails(tx, kind, notices);
  }

  /** Removes participants. Waiting e-mails about the note are dropped when they become due. */
  @Consume(noteDeleted, { effect: 'drop-participants' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const gone = events
      .filter(({ data }) => this.kinds.kindOfType(data.noteable_type))
      .map(({ data: { noteable_type: noteableType, noteable_id: noteableId, note_id: noteId } }) => {
        return { noteableType, noteableId: noteableId!, noteId };
      });
    await this.participants.dropOfNotes(tx, gone);
  }

  /** E-mails for subscribers of an added label. The queue skips users who already get an e-mail of the event. */
  private async createLabelNotices(tx: Tx, events: readonly Delivered<NoteableEvent<'updated'>>[]): Promise<Notice[]> {
    const added = events.map((event) => event.data.added_label_ids ?? []);
    const followers = await findLabelSubscribers(tx, added);
    return events.flatMap((event, index) => {
      const to = subscribedRecipients(followers[index]!);
      if (to.length === 0) return [];
      return [{ ...createNotice(event, 'relabelled', event.aggregateId, to), details: { labels: added[index] } }];
    });
  }

  private async queueStateNotices<E extends StateEvent>(
    tx: Tx,
    events: readonly E[],
    template: MailTemplate,
    isForActor: (event: E) => boolean = () => false,
  ): Promise<void> {
    if (events.length === 0) return;
    await this.directory.assertCurrentFor(tx, events);
    const notices = events.map((event) => ({
      ...createNotice(
        event,
        template,
        event.aggregateId,
        isForActor(event) ? [{ userId: findActorId(event), reason: null }] : [],
      ),
      isForParticipants: true,
      isForActor: isForActor(event),
    }));
    await this.mails.queueMails(tx, this.kinds.ofEvents(events), notices);
  }
}

type StateEvent = EventCause &
  Parameters<typeof findActorId>[0] & {
    readonly id: string;
    readonly aggregateType: string;
    readonly aggregateId: number;
  };

function createNotice(
  event: { readonly id: string } & Parameters<typeof findActorId>[0],
  template: MailTemplate,
  noteableId: number,
  recipients: NoticeRecipients,
): Notice {
  return {
    eventId: event.id,
    template,
    actorId: findActorId(event),
    noteableId,
    noteId: null,
    isForParticipants: false,
    to: recipients,
  };
}

/** Notice of a new or removed milestone. */
function createMilestoneChangeNotices(event: Delivered<NoteableEvent<'updated'>>): Notice[] {
  const { milestone_id: milestone } = event.data;
  if (milestone === undefined) return [];
  return [
    { ...createNotice(event, 'milestoned', event.aggregateId, []), isForParticipants: true, details: { milestone } },
  ];
}

/** Notice for users who became reviewers or stopped to be. */
function createReviewerChangeNotices(event: Delivered<NoteableEvent<'updated'>>): Notice[] {
  const { added_reviewer_ids: added = [], removed_reviewer_ids: removed = [] } = event.data;
  if (added.length + removed.length === 0) return [];
  const to = [...reviewerRecipients(added), ...removed.map((userId) => ({ userId, reason: null }))];
  const changed = createNotice(event, 'rereviewed', event.aggregateId, to);
  return [{ ...changed, isForParticipants: true, details: { added, removed } }];
}

const mentionedRecipients = (userIds: readonly number[]): NoticeRecipients =>
  userIds.map((userId) => ({ userId, reason: 'mentioned' }));
const assignedRecipients = (userIds: readonly number[]): NoticeRecipients =>
  userIds.map((userId) => ({ userId, reason: 'assigned' }));
const reviewerRecipients = (userIds: readonly number[]): NoticeRecipients =>
  userIds.map((userId) => ({ userId, reason: 'review_requested' }));
const subscribedRecipients = (userIds: readonly number[]): NoticeRecipients =>
  userIds.map((userId) => ({ userId, reason: 'subscribed' }));
