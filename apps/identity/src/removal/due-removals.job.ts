import { Injectable } from '@nestjs/common';
import { Job } from '@rookery/jobs';
import type { Interruptible } from '@rookery/jobs';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { housekeepingCron } from '../identity.config';
import { DeletionMarksService } from './deletion-marks.service';
import { TreeRemovalService } from './tree-removal.service';

/** Removes groups and projects whose deletion is due. Source: reference identity-and-import 2.6. */
@Injectable()
export class DueRemovalsJob {
  constructor(
    private readonly work: Work,
    private readonly marks: DeletionMarksService,
    private readonly trees: TreeRemovalService,
  ) {}

  @Job('remove-due', { cron: housekeepingCron })
  async run(run?: Interruptible): Promise<void> {
    // Groups first, because their projects are removed with them.
    for (const kind of ['group', 'project'] as const) {
      while (await this.work.run((tx) => this.removeNextDue(tx, kind))) run?.signal.throwIfAborted();
    }
  }

  private async removeNextDue(tx: Tx, kind: 'group' | 'project'): Promise<boolean> {
    const [id] = await this.marks.lockDue(tx, kind);
    if (id !== undefined) await this.trees.remove(tx, kind, id, null);
    return id !== undefined;
  }
}
