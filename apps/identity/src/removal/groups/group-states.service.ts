import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import type { NamespaceRecord } from '../../namespaces/namespace.entity';
import { DeletionMarksService } from '../deletion-marks.service';
import type { RemovalRequest } from '../deletion-marks.service';

/** Deleting groups, and changing one's mind. Source: reference identity-and-import 2.6. */
@Injectable()
export class GroupStatesService {
  constructor(
    private readonly work: Work,
    private readonly marks: DeletionMarksService,
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
      await this.marks.request(tx, 'group', group, asked, viewer.userId);
    });
  }

  /** Errors: Refused when it is not marked. */
  async restore(id: number): Promise<void> {
    await this.work.run(async (tx) => this.marks.restore(tx, 'group', await this.locked(tx, id)));
  }

  private async locked(tx: Tx, id: number): Promise<NamespaceRecord> {
    const [row] = await tx.query<NamespaceRecord>(
      `select * from namespaces where id = $1 and kind = 'group' for no key update`,
      [id],
    );
    if (!row) throw new NotFound('Group');
    return row;
  }
}
