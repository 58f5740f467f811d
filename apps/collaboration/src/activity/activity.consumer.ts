import { Controller } from '@nestjs/common';
import {
  issueClosed,
  issueCreated,
  issueDeleted,
  issueReopened,
  memberAdded,
  memberRemoved,
  noteCreated,
  noteDeleted,
  projectCreated,
  projectDeleted,
} from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { causedAt } from '../audience/cause';
import { issueSubjects, noteSubjects } from '../audience/subjects';
import type { ActivityAction } from './activity-words';
import { RecordActivity } from './record-activity';
import type { ActivityEntry } from './record-activity';

type IssueBatch =
  EffectBatch<typeof issueCreated> | EffectBatch<typeof issueClosed> | EffectBatch<typeof issueReopened>;

/** Feeds may be a moment late: what happened meanwhile is recorded together (ADR 0146). */
const RECORDING = { effect: 'record-activity', gatherMs: 100 };

/** What happens becomes entries of feeds. Source: reference work-tracking 7.2, 7.6. */
@Controller()
export class ActivityConsumer {
  constructor(private readonly activity: RecordActivity) {}

  @Consume(issueCreated, RECORDING)
  issueCreated(batch: EffectBatch<typeof issueCreated>): Promise<void> {
    return this.ofIssues(batch, 'created');
  }

  @Consume(issueClosed, RECORDING)
  issueClosed(batch: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.ofIssues(batch, 'closed');
  }

  @Consume(issueReopened, RECORDING)
  issueReopened(batch: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.ofIssues(batch, 'reopened');
  }

  @Consume(noteCreated, RECORDING)
  async noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const notes = await noteSubjects(
      tx,
      events.map((event) => event.data.note_id),
    );
    const entries = events.flatMap((event): ActivityEntry[] => {
      const note = notes.get(event.data.note_id);
      if (!note) return [];
      const target = { targetType: 'Note' as const, targetId: note.note_id, issueId: note.issue_id };
      const { project_id: projectId, author_id: authorId } = note;
      const at = causedAt(event, event.data.created_at);
      return [{ eventId: event.id, projectId, authorId, action: 'commented', ...target, at }];
    });
    await this.activity.record(tx, entries);
  }

  @Consume(projectCreated, RECORDING)
  async projectCreated({ tx, events }: EffectBatch<typeof projectCreated>): Promise<void> {
    const entries = events.map(({ id, data }) =>
      ofProject(id, { projectId: data.project_id, authorId: data.creator_id, action: 'created', at: data.created_at }),
    );
    await this.activity.record(tx, entries);
  }

  @Consume(memberAdded, RECORDING)
  async memberAdded({ tx, events }: EffectBatch<typeof memberAdded>): Promise<void> {
    const entries = events
      .filter(isOfProject)
      .map(({ id, data }) =>
        ofProject(id, { projectId: data.source_id, authorId: data.user_id, action: 'joined', at: data.added_at }),
      );
    await this.activity.record(tx, entries);
  }

  @Consume(memberRemoved, RECORDING)
  async memberRemoved({ tx, events }: EffectBatch<typeof memberRemoved>): Promise<void> {
    const entries = events.filter(isOfProject).map(({ id, data }) => {
      const action = data.reason === 'expired' ? 'expired' : 'left';
      return ofProject(id, { projectId: data.source_id, authorId: data.user_id, action, at: data.removed_at });
    });
    await this.activity.record(tx, entries);
  }

  @Consume(noteDeleted, { effect: 'drop-activity' })
  async noteDeleted({ tx, events }: EffectBatch<typeof noteDeleted>): Promise<void> {
    const onIssues = events.filter((event) => event.data.noteable_type === 'Issue');
    await this.activity.dropOfNotes(
      tx,
      onIssues.map(({ data }) => ({ issueId: data.noteable_id!, noteId: data.note_id })),
    );
  }

  @Consume(issueDeleted, { effect: 'drop-activity' })
  async issueDeleted({ tx, events }: EffectBatch<typeof issueDeleted>): Promise<void> {
    await this.activity.dropOfIssues(
      tx,
      events.map((event) => event.data.issue_id),
    );
  }

  @Consume(projectDeleted, { effect: 'drop-activity' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    await this.activity.dropOfProjects(
      tx,
      events.map((event) => event.data.project_id),
    );
  }

  private async ofIssues({ tx, events }: IssueBatch, action: ActivityAction): Promise<void> {
    const issues = await issueSubjects(
      tx,
      events.map((event) => event.data.issue_id),
    );
    const entries = events.flatMap((event): ActivityEntry[] => {
      const { issue_id: issueId, project_id: projectId, author_id } = event.data;
      if (!issues.has(issueId)) return [];
      const target = { targetType: 'Issue' as const, targetId: issueId, issueId };
      const at = causedAt(event, statedTime(event.data));
      return [{ eventId: event.id, projectId, authorId: event.actorId ?? author_id, action, ...target, at }];
    });
    await this.activity.record(tx, entries);
  }
}

function statedTime(data: IssueBatch['events'][number]['data']): string {
  if ('closed_at' in data) return data.closed_at;
  return 'reopened_at' in data ? data.reopened_at : data.created_at;
}

function isOfProject(event: { readonly data: { readonly source_type: string } }): boolean {
  return event.data.source_type === 'project';
}

function ofProject(
  eventId: string,
  fact: Pick<ActivityEntry, 'projectId' | 'authorId' | 'action' | 'at'>,
): ActivityEntry {
  return { eventId, ...fact, targetType: 'Project', targetId: fact.projectId, issueId: null };
}
