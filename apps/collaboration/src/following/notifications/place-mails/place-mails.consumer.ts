import { Controller } from '@nestjs/common';
import {
  accessRequestChanged,
  memberAdded,
  memberChanged,
  projectMoved,
  projectRenamed,
  releaseCreated,
} from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import type { PlaceMailTemplate, PlaceNotice } from './place-mail-templates';
import { QueuePlaceMails } from './queue-place-mails';

type MemberEvent = Delivered<typeof memberAdded | typeof memberChanged | typeof accessRequestChanged>;
const QUEUEING = { effect: 'queue-place-mails' };

/**
 * Queues e-mails about members and access requests. Those about releases and moved projects may have many recipients, so a
 * job queues them. Source: reference work-tracking 8.4, 8.9.
 */
@Controller()
export class PlaceMailsConsumer {
  constructor(
    private readonly mails: QueuePlaceMails,
    private readonly directory: Directory,
  ) {}

  @Consume(memberAdded, QUEUEING)
  added({ tx, events }: EffectBatch<typeof memberAdded>): Promise<void> {
    return this.forMembers(tx, events, 'member_added');
  }

  @Consume(memberChanged, QUEUEING)
  changed({ tx, events }: EffectBatch<typeof memberChanged>): Promise<void> {
    return this.forMembers(tx, events, 'member_changed');
  }

  /** An accepted request has the e-mail about the new membership; a withdrawn one has none. */
  @Consume(accessRequestChanged, QUEUEING)
  async requested({ tx, events }: EffectBatch<typeof accessRequestChanged>): Promise<void> {
    const denied = events.filter(({ data }) => data.state === 'denied');
    await this.forMembers(tx, denied, 'access_denied');
    const requested = events.filter(({ data }) => data.state === 'requested');
    if (requested.length > 0) await this.directory.assertCurrentFor(tx, requested);
    for (const event of requested) {
      const notice = noticeOf(event, 'access_requested');
      await this.mails.forReceivers(tx, { ...notice, subjectId: event.data.user_id }, event.data.user_id);
    }
  }

  @Consume(releaseCreated, QUEUEING)
  released({ tx, events }: EffectBatch<typeof releaseCreated>): Promise<void> {
    return this.ofProjects(tx, events, 'new_release', ({ data }) => data.release_id);
  }

  @Consume(projectMoved, QUEUEING)
  moved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    return this.ofProjects(tx, events, 'moved_project', () => null);
  }

  @Consume(projectRenamed, QUEUEING)
  renamed({ tx, events }: EffectBatch<typeof projectRenamed>): Promise<void> {
    return this.ofProjects(tx, events, 'moved_project', () => null);
  }

  /** Queues an e-mail for the user of each event. */
  private async forMembers(tx: Tx, events: readonly MemberEvent[], template: PlaceMailTemplate): Promise<void> {
    if (events.length === 0) return;
    await this.directory.assertCurrentFor(tx, events);
    for (const event of events) await this.mails.forUser(tx, noticeOf(event, template), event.data.user_id);
  }

  private async ofProjects<E extends Delivered<typeof releaseCreated | typeof projectMoved | typeof projectRenamed>>(
    tx: Tx,
    events: readonly E[],
    template: 'new_release' | 'moved_project',
    subjectOf: (event: E) => number | null,
  ): Promise<void> {
    await this.directory.assertCurrentFor(tx, events);
    for (const event of events) {
      await this.mails.forAll(tx, {
        ...{ eventId: event.id, template, projectId: event.data.project_id, groupId: null },
        ...{ actorId: event.actorId, subjectId: subjectOf(event) },
      });
    }
  }
}

function noticeOf({ id: eventId, actorId, data }: MemberEvent, template: PlaceMailTemplate): PlaceNotice {
  const isProject = data.source_type === 'project';
  return {
    ...{ eventId, template, actorId, subjectId: null },
    projectId: isProject ? data.source_id : null,
    groupId: isProject ? null : data.source_id,
  };
}
