import { Injectable } from '@nestjs/common';
import { Refused } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { ChangeLog } from '../directory/change-log';
import { NamespaceTrees } from '../paths/namespace-trees.repository';

/** Which plan a top-level namespace has, and with it everything below. Source: decisions 4; ADR 0108. */
@Injectable()
export class NamespacePlans {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly trees: NamespaceTrees,
  ) {}

  /** Errors: Refused below the top level. */
  async change(id: number, plan: string): Promise<void> {
    await this.work.run(async (tx) => {
      const tree = await this.trees.lock(tx, id);
      const [top] = await tx.query<{ parent_id: number | null; plan: string }>(
        `select parent_id, plan from namespaces where id = $1`,
        [id],
      );
      if (top?.parent_id !== null) throw new Refused('Plan can be changed for top-level namespaces only');
      if (top.plan === plan) return;
      await tx.query(`update namespaces set plan = $2, updated_at = now() where id = any($1)`, [tree, plan]);
      await this.log.recordSubtree(tx, id);
    });
  }
}
