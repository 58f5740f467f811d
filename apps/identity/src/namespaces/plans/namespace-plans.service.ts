import { Injectable } from '@nestjs/common';
import { Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../../directory/change-log';
import { NamespaceTreesService } from '../paths/namespace-trees.service';

/** Plans of top-level namespaces, which apply to all namespaces below. Source: reference identity-and-import 3. */
@Injectable()
export class NamespacePlansService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly trees: NamespaceTreesService,
  ) {}

  /** Errors: Refused for a namespace that is not at the top level. */
  async changePlan(id: number, plan: string): Promise<void> {
    await this.work.run(async (tx) => {
      await this.trees.lockTree(tx, id);
      const [top] = await tx.query<{ parent_id: number | null; plan: string }>(
        `select parent_id, plan from namespaces where id = $1`,
        [id],
      );
      if (top?.parent_id !== null) throw new Refused('Plan can be changed for top-level namespaces only');
      if (top.plan === plan) return;
      await this.trees.setPlan(tx, id, plan);
      await this.log.recordSubtree(tx, id);
    });
  }
}
