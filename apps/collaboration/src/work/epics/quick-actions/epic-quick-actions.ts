import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { COMMON_ACTIONS, CONFIDENTIAL_ACTIONS } from '../../issues/quick-actions/common-actions';
import type { CommonChanges } from '../../issues/quick-actions/common-actions';
import { LABEL_ACTIONS, findCommandLabelIds, toRequestedLabels } from '../../issues/quick-actions/label-actions';
import type { CommandedLabels } from '../../issues/quick-actions/label-actions';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableWithParent } from '../../../base/noteables/planning.policy';
import { listEpicsToLock, epicTree } from '../children/epic-tree';
import { epicKind } from '../epic.kind';
import { EpicsService } from '../epics.service';
import type { EpicUpdate } from '../epics.service';

const OWN_ACTIONS: Readonly<Record<string, (changes: CommonChanges, argument: string) => ActionResult>> = {
  ...COMMON_ACTIONS,
  ...CONFIDENTIAL_ACTIONS,
};

/**
 * Quick actions that change an epic. All commands of a text make one change, as one request would. Confidentiality is
 * separate, since the tree and the issues of the epic may refuse it. Source: reference work-tracking 2.6, 5.5.
 */
@Injectable()
export class EpicQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly epics: EpicsService,
  ) {
    const fits: Parameters<QuickActionsService['declareSet']>[0]['supportsKind'] = (kind) => kind === epicKind;
    actions.declareSet({
      names: [...Object.keys(COMMON_ACTIONS), ...Object.keys(LABEL_ACTIONS)],
      isFirst: true,
      supportsKind: fits,
      plan: (asking, commands) => this.planEpicActions(asking, commands),
    });
    actions.declareSet({
      names: Object.keys(CONFIDENTIAL_ACTIONS),
      isFirst: true,
      supportsKind: fits,
      plan: (asking, commands) => this.planConfidentialAction(asking, commands),
    });
  }

  private planEpicActions({ viewer }: ActionContext, commands: readonly Command[]): ExecuteActions {
    return (tx, on) => this.executeEpicActions(tx, viewer, on, commands);
  }

  /** Locks the tree, since the result depends on the confidentiality of parent and children. */
  private planConfidentialAction(asking: ActionContext, commands: readonly Command[]): ExecuteActions {
    const { viewer, parent, epicId } = asking;
    const above = (tx: Tx, on: NoteableWithParent | null): Promise<void> =>
      epicTree.lock(tx, viewer, parent.id, listEpicsToLock(on, epicId));
    return Object.assign(this.planEpicActions(asking, commands), { holds: { above } });
  }

  private async executeEpicActions(
    tx: Tx,
    viewer: SignedInViewer,
    on: NoteableWithParent,
    commands: readonly Command[],
  ): Promise<readonly ActionResult[]> {
    const group = on.parent as GroupScope;
    const known = await findCommandLabelIds(tx, group, commands);
    let outcomes: readonly ActionResult[] = [];
    await this.epics.change(tx, viewer, group, on, {
      resolve: (epic): EpicUpdate => {
        const labelling: CommandedLabels = { add: new Set(), remove: new Set() };
        const common: CommonChanges = { target: epic, word: epicKind.word, update: {} };
        outcomes = commands.map(({ name, argument }) => {
          const act = OWN_ACTIONS[name];
          return act ? act(common, argument) : LABEL_ACTIONS[name]!(labelling, known, argument);
        });
        const { title, confidential, stateEvent: state_event } = common.update;
        return { fields: { title, confidential, state_event }, labels: toRequestedLabels(labelling), at: undefined };
      },
    });
    return outcomes;
  }
}
