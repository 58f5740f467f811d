import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { Namespace } from '../group-settings/namespace.entity';
import { RemovalService } from '../removal/removal.service';
import type { RemovalRequest } from '../removal/removal.service';

/** Deleting groups, and changing one's mind. Source: reference identity-and-import 2.6; ADR 0062. */
@Injectable()
export class GroupStates {
  constructor(
    private readonly work: Work,
    private readonly removal: RemovalService,
  ) {}

  /** Shape: `unchanged` is asked with the time of the last change before anything happens. */
  async remove(
    viewer: SignedInViewer,
    id: number,
    asked: RemovalRequest,
    unchanged: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const group = await this.locked(tx, id);
      unchanged(group.updated_at);
      await this.removal.request(tx, 'group', group, asked, viewer.userId);
    });
  }

  /** Errors: Refused when it is not marked. */
  async restore(id: number): Promise<void> {
    await this.work.run(async (tx) => this.removal.restore(tx, 'group', await this.locked(tx, id)));
  }

  private async locked(tx: Tx, id: number): Promise<Namespace> {
    const [row] = await tx.query<Namespace>(
      `select * from namespaces where id = $1 and kind = 'group' for no key update`,
      [id],
    );
    if (!row) throw new NotFound('Group');
    return row;
  }
}
