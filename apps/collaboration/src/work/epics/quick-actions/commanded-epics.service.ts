import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { opensConfidential } from '../../issues/quick-actions/common-actions';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { PlannedActions } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { epicKind } from '../epic.kind';
import { EpicsQueries } from '../epics.queries';
import { EpicsService } from '../epics.service';
import type { EpicWish, NewEpic } from '../epics.service';

/**
 * Writes of epics whose description asks for more: that is carried out in the same transaction, after the fields, and is no
 * part of the description. What it is refused is not told. Errors: those of the writes; TooManyRequests.
 * Source: reference work-tracking 2.6.
 */
@Injectable()
export class CommandedEpicsService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly actions: QuickActionsService,
    private readonly limit: NoteLimit,
    private readonly epics: EpicsService,
    private readonly queries: EpicsQueries,
  ) {}

  async create(viewer: SignedInViewer, group: GroupScope, sent: NewEpic): Promise<string> {
    const { commands, description } = this.read(sent);
    const confidential = opensConfidential(commands) ? true : sent.fields.confidential;
    const wish = { ...sent, fields: { ...sent.fields, description, confidential } };
    if (commands.length === 0) return this.epics.create(viewer, group, wish);
    await this.directory.fresh(viewer);
    const planned = await this.plan(viewer, group, { wish, commands, isNew: true });
    const number = await this.work.run(async (tx) => {
      await this.limit.begin(tx, viewer);
      await planned.hold(tx, null);
      const iid = await this.epics.openBelow(tx, viewer, group, wish);
      await planned.carryOut(tx, { kind: epicKind, parent: group, by: 'iid', named: iid });
      return iid;
    });
    return this.queries.answer(viewer, group, number);
  }

  async update(viewer: SignedInViewer, group: GroupScope, iid: number, sent: EpicWish): Promise<string> {
    const { commands, description } = this.read(sent);
    const wish = { ...sent, fields: { ...sent.fields, description } };
    if (commands.length === 0) return this.epics.update(viewer, group, iid, wish);
    await this.directory.fresh(viewer);
    const planned = await this.plan(viewer, group, { wish, commands });
    const on = { kind: epicKind, parent: group, by: 'iid', named: iid } as const;
    await this.work.run(async (tx) => {
      await this.limit.begin(tx, viewer);
      await planned.hold(tx, on);
      await this.epics.change(tx, viewer, group, on, wish);
      await planned.carryOut(tx, on);
    });
    return this.queries.answer(viewer, group, iid);
  }

  private read({ fields }: EpicWish): {
    readonly commands: readonly Command[];
    readonly description: EpicWish['fields']['description'];
  } {
    if (typeof fields.description !== 'string') return { commands: [], description: fields.description };
    const { commands, rest } = this.actions.read(epicKind, fields.description);
    return { commands, description: rest };
  }

  private plan(
    viewer: SignedInViewer,
    group: GroupScope,
    o: { readonly wish: EpicWish; readonly commands: readonly Command[]; readonly isNew?: true },
  ): Promise<PlannedActions> {
    const isNew = o.isNew ? { isNew: o.isNew } : {};
    return this.actions.plan({ viewer, kind: epicKind, parent: group, epicId: o.wish.parentId, ...isNew }, o.commands);
  }
}
