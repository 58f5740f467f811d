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
} from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { ProjectStatistics } from './project-statistics';

interface InProject {
  readonly time: string;
  readonly data: { readonly project_id: number };
}
interface ProjectBatch {
  readonly tx: EffectBatch<typeof issueCreated>['tx'];
  readonly events: readonly InProject[];
}

/** Nobody waits for figures, so those of a quarter of a second share a transaction: notes come one by one. */
const KEEPING = { effect: 'keep-statistics', gatherMs: 250 };

/** Facts of other services about projects, kept for lists and single projects. Source: ADR 0110. */
@Controller()
export class StatisticsConsumer {
  constructor(private readonly statistics: ProjectStatistics) {}

  @Consume(collaborationStorageMeasured, KEEPING)
  storageMeasured({ tx, events }: EffectBatch<typeof collaborationStorageMeasured>): Promise<void> {
    const facts = events.map((event) => event.data);
    return this.statistics.measure(tx, 'storage', facts);
  }

  @Consume(packageStorageMeasured, KEEPING)
  packagesMeasured({ tx, events }: EffectBatch<typeof packageStorageMeasured>): Promise<void> {
    const facts = events.map((event) => event.data);
    return this.statistics.measure(tx, 'packages', facts);
  }

  @Consume(issueCreated, KEEPING)
  issueCreated(batch: EffectBatch<typeof issueCreated>): Promise<void> {
    return this.count(batch, 1);
  }

  @Consume(issueReopened, KEEPING)
  issueReopened(batch: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.count(batch, 1);
  }

  @Consume(issueClosed, KEEPING)
  issueClosed(batch: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.count(batch, -1);
  }

  /** An issue that was closed before it was deleted has been counted off already. */
  @Consume(issueDeleted, KEEPING)
  issueDeleted({ tx, events }: EffectBatch<typeof issueDeleted>): Promise<void> {
    const open = events.filter((event) => event.data.state !== 'closed');
    return this.count({ tx, events: open }, -1);
  }

  @Consume(issueUpdated, KEEPING)
  issueUpdated({ tx, events }: EffectBatch<typeof issueUpdated>): Promise<void> {
    return this.touch(tx, events);
  }

  @Consume(noteCreated, KEEPING)
  noteCreated({ tx, events }: EffectBatch<typeof noteCreated>): Promise<void> {
    const seen = events.flatMap(({ time, data: { project_id } }) =>
      project_id === null ? [] : [{ time, data: { project_id } }],
    );
    return this.touch(tx, seen);
  }

  private async count({ tx, events }: ProjectBatch, by: 1 | -1): Promise<void> {
    await this.touch(tx, events);
    const steps = events.map((event) => ({ projectId: event.data.project_id, by }));
    await this.statistics.countIssues(tx, steps);
  }

  private touch(tx: ProjectBatch['tx'], events: readonly InProject[]): Promise<void> {
    const seen = events.map((event) => ({ projectId: event.data.project_id, at: event.time }));
    return this.statistics.touch(tx, seen);
  }
}
