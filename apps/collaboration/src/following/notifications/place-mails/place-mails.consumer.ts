import { Controller, Inject } from '@nestjs/common';
import {
  accessRequestChanged,
  memberAdded,
  memberChanged,
  projectMoved,
  projectRenamed,
  releaseCreated,
} from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { CLOCK } from '@rookery/kernel';
import type { Clock } from '@rookery/kernel';
import { Consume } from '@rookery/messaging';
import type { Delivered, EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import type { ProjectOrGroupMailTemplate, ProjectOrGroupNotice } from './place-mail-templates';
import { ProjectOrGroupMailEnqueuer } from './project-or-group-mail-enqueuer';

type MemberEvent = Delivered<typeof memberAdded | typeof memberChanged | typeof accessRequestChanged>;
const QUEUEING = { effect: 'queue-place-mails' };
/** Age of the oldest event with an e-mail. Units: milliseconds. */
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Queues e-mails about members and access requests. Those about releases and moved projects may have many recipients, so a
 * job queues them. Older events have no e-mail: a new or repeated subscription gets all events that the bus still has.
 * Source: reference work-tracking 8.4, 8.9.
 */
@Controller()
export class MembershipMailsConsumer {
  constructor(
    private readonly mails: ProjectOrGroupMailEnqueuer,
    private readonly directory: Directory,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Consume(memberAdded, QUEUEING)
  added({ tx, events }: EffectBatch<typeof memberAdded>): Promise<void> {
    return this.queueForMembers(tx, events, 'member_added');
  }

  @Consume(memberChanged, QUEUEING)
  changed({ tx, events }: EffectBatch<typeof memberChanged>): Promise<void> {
    return this.queueForMembers(tx, events, 'member_changed');
  }

  /** An accepted request has the e-mail about the new membership; a withdrawn one has none. */
  @Consume(accessRequestChanged, QUEUEING)
  async requested({ tx, events }: EffectBatch<typeof accessRequestChanged>): Promise<void> {
    const denied = events.filter(({ data }) => data.state === 'denied');
    await this.queueForMembers(tx, denied, 'access_denied');
    const requested = this.filterRecent(events).filter(({ data }) => data.state === 'requested');
    if (requested.length > 0) await this.directory.assertCurrentFor(tx, requested);
    for (const event of requested) {
      const notice = toNotice(event, 'access_requested');
      await this.mails.forApprovers(tx, { ...notice, subjectId: event.data.user_id }, event.data.user_id);
    }
  }

  @Consume(releaseCreated, QUEUEING)
  released({ tx, events }: EffectBatch<typeof releaseCreated>): Promise<void> {
    return this.queueForProjects(tx, events, 'new_release', ({ data }) => data.release_id);
  }

  @Consume(projectMoved, QUEUEING)
  moved({ tx, events }: EffectBatch<typeof projectMoved>): Promise<void> {
    return this.queueForProjects(tx, events, 'moved_project', () => null);
  }

  @Consume(projectRenamed, QUEUEING)
  renamed({ tx, events }: EffectBatch<typeof projectRenamed>): Promise<void> {
    return this.queueForProjects(tx, events, 'moved_project', () => null);
  }

  /** Queues an e-mail for the user of each event. */
  private async queueForMembers(
    tx: Tx,
    events: readonly MemberEvent[],
    template: ProjectOrGroupMailTemplate,
  ): Promise<void> {
    const recent = this.filterRecent(events);
    if (recent.length === 0) return;
    await this.directory.assertCurrentFor(tx, recent);
    for (const event of recent) await this.mails.forUser(tx, toNotice(event, template), event.data.user_id);
  }

  private async queueForProjects<
    E extends Delivered<typeof releaseCreated | typeof projectMoved | typeof projectRenamed>,
  >(
    tx: Tx,
    events: readonly E[],
    template: 'new_release' | 'moved_project',
    subjectOf: (event: E) => number | null,
  ): Promise<void> {
    const recent = this.filterRecent(events);
    if (recent.length === 0) return;
    await this.directory.assertCurrentFor(tx, recent);
    for (const event of recent) {
      await this.mails.forAll(tx, {
        ...{ eventId: event.id, template, projectId: event.data.project_id, groupId: null },
        ...{ actorId: event.actorId, responsibleId: findResponsibleUserId(event), subjectId: subjectOf(event) },
      });
    }
  }

  private filterRecent<E extends { readonly time: string }>(events: readonly E[]): readonly E[] {
    const since = this.clock.now().getTime() - MAX_AGE_MS;
    return events.filter(({ time }) => Date.parse(time) >= since);
  }
}

function toNotice(event: MemberEvent, template: ProjectOrGroupMailTemplate): ProjectOrGroupNotice {
  const { id: eventId, actorId, data } = event;
  const isProject = data.source_type === 'project';
  return {
    ...{ eventId, template, actorId, responsibleId: findResponsibleUserId(event), subjectId: null },
    projectId: isProject ? data.source_id : null,
    groupId: isProject ? null : data.source_id,
  };
}

/** Returns the user whose limits count the e-mails of an event. Only events of bots name another user than the actor. */
function findResponsibleUserId(event: { readonly actorId: number | null; readonly data: object }): number | null {
  const { responsible_id: id } = event.data as { readonly responsible_id?: number };
  return id ?? event.actorId;
}
