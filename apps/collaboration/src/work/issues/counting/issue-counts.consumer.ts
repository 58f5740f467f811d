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

/** Nobody waits for figures: what happens in half a second is counted once. */
const COUNTING = { effect: 'count-issues', gatherMs: 500 };

type IssueBatch = EffectBatch<typeof issueDeleted>;

/** Whatever may change how many issues of a project are open, and how many of these are confidential. */
@Controller()
export class IssueCountsConsumer {
  constructor(
    private readonly counts: IssueCountsService,
    private readonly directory: Directory,
  ) {}

  @Consume(issueCreated, COUNTING)
  created(batch: EffectBatch<typeof issueCreated>): Promise<void> {
    return this.recount(batch);
  }

  @Consume(issueUpdated, COUNTING)
  updated(batch: EffectBatch<typeof issueUpdated>): Promise<void> {
    return this.recount(batch);
  }

  @Consume(issueClosed, COUNTING)
  closed(batch: EffectBatch<typeof issueClosed>): Promise<void> {
    return this.recount(batch);
  }

  @Consume(issueReopened, COUNTING)
  reopened(batch: EffectBatch<typeof issueReopened>): Promise<void> {
    return this.recount(batch);
  }

  @Consume(issueDeleted, COUNTING)
  deleted(batch: IssueBatch): Promise<void> {
    return this.recount(batch);
  }

  @Consume(projectDeleted, { effect: 'drop-issue-counts' })
  async projectDeleted({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const ids = events.map((event) => event.data.project_id);
    await this.directory.gone(tx, 'project', events, ids);
    await attachedIssueCounts.drop(tx, 'project', ids);
  }

  private recount({ tx, events }: Pick<IssueBatch, 'tx'> & { readonly events: readonly InProject[] }): Promise<void> {
    const projects = events.map((event) => event.data.project_id!);
    return this.counts.recount(tx, projects);
  }
}

interface InProject {
  readonly data: { readonly project_id: number | null };
}
