import { Controller } from '@nestjs/common';
import {
  issueClosed,
  issueCreated,
  issueDeleted,
  issueReopened,
  issueUpdated,
  projectDeleted,
} from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { attachedIssueCounts } from '../issue-removal';
import { IssueCountsService } from './issue-counts.service';

/** Counts are not urgent: events of half a second cause one count. */
const COUNTING = { effect: 'count-issues', gatherMs: 500 };

type IssueEventBatch = EffectBatch<typeof issueDeleted>;

/** Recounts a project's open and open confidential issues after events that can change them. */
@Controller()
export class IssueCountsConsumer {
  constructor(
    private readonly counts: IssueCountsService,
    private readonly directory: Directory,
  ) {}

  @Consume(issueCreated, COUNTING)
  created(batch: EffectBatch<typeof issueCreated>): Promise<void> {
    return this.recountProjects(batch);
  }

  @Consume(issueUpdated, COUNTING)
  updated(batch: EffectBatch<typeof issueUpdated>): Promise<void> {
    return this.recountProjects(batch);
  }

  @Consume(issueClosed, COUNTING)
  closed(batch: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.recountProjects(batch);
  }

  @Consume(issueReopened, COUNTING)
  reopened(batch: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.recountProjects(batch);
  }

  @Consume(issueDeleted, COUNTING)
  deleted(batch: IssueEventBatch): Promise<void> {
    return this.recountProjects(batch);
  }

  @Consume(projectDeleted, { effect: 'drop-issue-counts' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.assertDeleted(tx, 'project', events, ids);
    await attachedIssueCounts.deleteRows(tx, 'project', ids);
  }

  private recountProjects({
    tx,
    events,
  }: Pick<IssueEventBatch, 'tx'> & { readonly events: readonly ProjectEvent[] }): Promise<void> {
    const projects = events.map((event) => event.data.project_id!);
    return this.counts.recountIssues(tx, projects);
  }
}

interface ProjectEvent {
  readonly data: { readonly project_id: number | null };
}
