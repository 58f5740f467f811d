import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { GroupChangesService } from '../../groups/group-changes.service';
import { appendDeletionSuffix, stripDeletionSuffix } from '../deletion-names';
import { DeletionMarksService } from '../deletion-marks.service';
import type { RemovalRequest } from '../deletion-marks.service';

/** Deletes and restores groups. Source: reference identity-and-import 2.6. */
@Injectable()
export class GroupStatesService {
  constructor(
    private readonly work: Work,
    private readonly marks: DeletionMarksService,
    private readonly groups: GroupChangesService,
  ) {}

  /**
   * Requests the deletion of a group. `unchanged` is called first, with the time of the last change. It throws to stop
   * the deletion.
   */
  async remove(
    viewer: SignedInViewer,
    id: number,
    asked: RemovalRequest,
    unchanged: (updatedAt: Date) => void,
  ): Promise<void> {
    await this.work.run(async (tx) => {
      const { group } = await this.groups.lockWithParent(tx, id);
      unchanged(group.updated_at);
      const isMarked = await this.marks.requestDeletion(tx, 'group', group, asked, viewer.userId);
      if (isMarked) await this.groups.renameIfFree(tx, id, (present) => appendDeletionSuffix(present, id));
    });
  }

  /** Errors: Refused if the group is not marked for deletion. */
  async restore(id: number): Promise<void> {
    await this.work.run(async (tx) => {
      const { group } = await this.groups.lockWithParent(tx, id);
      await this.marks.restoreRow(tx, 'group', group);
      await this.groups.renameIfFree(tx, id, (present) => stripDeletionSuffix(present, id));
    });
  }
}
