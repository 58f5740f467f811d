import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import { hasConfidentialCommand } from '../../issues/quick-actions/common-actions';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { PlannedActions } from '../../../talk/mentions/quick-actions/quick-actions.service';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { epicKind } from '../epic.kind';
import { EpicsQueries } from '../epics.queries';
import { EpicsService } from '../epics.service';
import type { EpicUpdate, NewEpic } from '../epics.service';

/**
 * Creates and updates epics with quick actions in their description. The commands run in the same transaction after the
 * fields, and are removed from the description. Refused commands are not reported.
 * Errors: those of the writes; TooManyRequests.
 * Source: reference work-tracking 2.6.
 */
@Injectable()
export class EpicQuickActionsService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly actions: QuickActionsService,
    private readonly limit: NoteLimit,
    private readonly epics: EpicsService,
    private readonly queries: EpicsQueries,
  ) {}

  async create(viewer: SignedInViewer, group: GroupScope, input: NewEpic): Promise<string> {
    const { commands, description } = this.readCommands(input);
    const confidential = hasConfidentialCommand(commands) ? true : input.fields.confidential;
    const epic = { ...input, fields: { ...input.fields, description, confidential } };
    if (commands.length === 0) return this.epics.create(viewer, group, epic);
    await this.directory.requireFresh(viewer);
    const planned = await this.planActions(viewer, group, { parentId: epic.parentId, commands, isNew: true });
    const number = await this.work.run(async (tx) => {
      await this.limit.begin(tx, viewer);
      await planned.lock(tx, null);
      const iid = await this.epics.openWithParent(tx, viewer, group, epic);
      await planned.execute(tx, { kind: epicKind, parent: group, by: 'iid', named: iid });
      return iid;
    });
    return this.queries.answer(viewer, group, number);
  }

  async update(viewer: SignedInViewer, group: GroupScope, iid: number, input: EpicUpdate): Promise<string> {
    const { commands, description } = this.readCommands(input);
    const update = { ...input, fields: { ...input.fields, description } };
    if (commands.length === 0) return this.epics.update(viewer, group, iid, update);
    await this.directory.requireFresh(viewer);
    const planned = await this.planActions(viewer, group, { parentId: update.parentId, commands });
    const on = { kind: epicKind, parent: group, by: 'iid', named: iid } as const;
    await this.work.run(async (tx) => {
      await this.limit.begin(tx, viewer);
      await planned.lock(tx, on);
      await this.epics.change(tx, viewer, group, on, update);
      await planned.execute(tx, on);
    });
    return this.queries.answer(viewer, group, iid);
  }

  private readCommands({ fields }: EpicUpdate): {
    readonly commands: readonly Command[];
    readonly description: EpicUpdate['fields']['description'];
  } {
    if (typeof fields.description !== 'string') return { commands: [], description: fields.description };
    const { commands, rest } = this.actions.readCommands(epicKind, fields.description);
    return { commands, description: rest };
  }

  private planActions(
    viewer: SignedInViewer,
    group: GroupScope,
    o: { readonly parentId: EpicUpdate['parentId']; readonly commands: readonly Command[]; readonly isNew?: true },
  ): Promise<PlannedActions> {
    const isNew = o.isNew ? { isNew: o.isNew } : {};
    return this.actions.planActions(
      { viewer, kind: epicKind, parent: group, epicId: o.parentId, ...isNew },
      o.commands,
    );
  }
}
