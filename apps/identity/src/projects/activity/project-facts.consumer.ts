import { Controller } from '@nestjs/common';
import {
  collaborationStorageMeasured,
  issueClosed,
  issueCreated,
  issueDeleted,
  issueReopened,
  issueUpdated,
  noteCreated,
  packageStorageMeasured,
  projectIssuesCounted,
  pushCompleted,
} from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import type { Tx } from '@rookery/persistence';
import { ProjectStatisticsService } from '../../statistics/project-statistics';
import { ProjectsService } from '../projects.service';

interface ProjectEvent {
  readonly time: string;
  readonly data: { readonly project_id: number | null };
}

/** Figures are not urgent, and notes arrive one by one, so events of a quarter of a second share a transaction. */
const STATISTICS_EFFECT = { effect: 'keep-statistics', gatherMs: 250 };

/**
 * Stores statistics of projects from other services, and the time of the last activity in each project. Source: ADR 0110.
 */
@Controller()
export class ProjectFactsConsumer {
  constructor(
    private readonly statistics: ProjectStatisticsService,
    private readonly projects: ProjectsService,
  ) {}

  @Consume(collaborationStorageMeasured, STATISTICS_EFFECT)
  storeStorage({ tx, events }: EffectBatch<typeof collaborationStorageMeasured>): Promise<void> {
    const facts = events.map((event) => event.data);
    return this.statistics.storeFacts(tx, 'storage', facts);
  }

  @Consume(packageStorageMeasured, STATISTICS_EFFECT)
  storePackages({ tx, events }: EffectBatch<typeof packageStorageMeasured>): Promise<void> {
    const facts = events.map((event) => event.data);
    return this.statistics.storeFacts(tx, 'packages', facts);
  }

  @Consume(projectIssuesCounted, STATISTICS_EFFECT)
  storeIssueCounts({ tx, events }: EffectBatch<typeof projectIssuesCounted>): Promise<void> {
    const facts = events.map(({ data }) => ({ ...data, measured_at: data.counted_at }));
    return this.statistics.storeFacts(tx, 'issues', facts);
  }

  @Consume(pushCompleted, { effect: 'note-pushes' })
  async recordPushes({ tx, events }: EffectBatch<typeof pushCompleted>): Promise<void> {
    const pushed = events.flatMap(({ data }) =>
      data.default_branch === null
        ? []
        : [{ projectId: data.project_id, branch: data.default_branch, hasChanged: data.default_branch_changed }],
    );
    await this.projects.noteDefaultBranches(tx, pushed);
    await this.recordActivity(tx, events);
  }

  @Consume(issueCreated, STATISTICS_EFFECT)
  recordActivityOfCreatedIssues({ tx, events }: EffectBatch<typeof issueCreated>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  @Consume(issueReopened, STATISTICS_EFFECT)
  recordActivityOfReopenedIssues({ tx, events }: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  @Consume(issueClosed, STATISTICS_EFFECT)
  recordActivityOfClosedIssues({ tx, events }: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  @Consume(issueDeleted, STATISTICS_EFFECT)
  recordActivityOfDeletedIssues({ tx, events }: EffectBatch<typeof issueDeleted>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  @Consume(issueUpdated, STATISTICS_EFFECT)
  recordActivityOfUpdatedIssues({ tx, events }: EffectBatch<typeof issueUpdated>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  @Consume(noteCreated, STATISTICS_EFFECT)
  recordActivityOfNotes({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    return this.recordActivity(tx, events);
  }

  private recordActivity(tx: Tx, events: readonly ProjectEvent[]): Promise<void> {
    const seen = events.flatMap(({ time: at, data: { project_id: projectId } }) =>
      projectId === null ? [] : [{ projectId, at }],
    );
    return this.projects.touchActivity(tx, seen);
  }
}
