import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { executeCommandsInSavepoints } from '../../../talk/mentions/quick-actions/action-set';
import type { ActionContext, ExecuteActions, ActionResult } from '../../../talk/mentions/quick-actions/action-set';
import { parseArgument } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/parse-commands';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NoteableReference } from '../../../base/noteables/reader';
import { epicKind } from '../epic.kind';
import { epicPolicy } from '../epic.policy';
import { ChildEpicsService } from './child-epics.service';
import { renderEpicReference } from './epic-parents.service';
import { listEpicsToLock, epicTree } from './epic-tree';
import type { TreeEpic } from './epic-tree';

/** The epic that a command names, or the reason why there is none. */
type EpicTarget = { readonly groupId: number; readonly iid: number } | { readonly why: string };
type TreeActionName = 'child_epic' | 'remove_child_epic' | 'parent_epic' | 'remove_parent_epic';
const NAMES: readonly TreeActionName[] = ['child_epic', 'remove_child_epic', 'parent_epic', 'remove_parent_epic'];

/** Quick actions on the parent and the children of an epic. Source: reference work-tracking 2.6, 5.7. */
@Injectable()
export class EpicTreeQuickActions {
  constructor(
    actions: QuickActionsService,
    private readonly directory: Directory,
    private readonly children: ChildEpicsService,
  ) {
    actions.declareSet({
      names: NAMES,
      isFirst: 'above',
      supportsKind: (kind) => kind === epicKind,
      plan: (asking, commands) => this.planTreeActions(asking, commands),
    });
  }

  private async planTreeActions(
    { viewer, parent, epicId }: ActionContext,
    commands: readonly Command[],
  ): Promise<ExecuteActions> {
    const here = parent as GroupScope;
    const targets: EpicTarget[] = [];
    for (const { argument } of commands) targets.push(await this.findTargetEpic(viewer, here, argument));
    const named = targets.filter((one) => 'iid' in one);
    const holds: ExecuteActions['holds'] = {
      above: async (tx, on) => {
        const { ids = [], named: own = [] } = listEpicsToLock(on, epicId);
        await epicTree.lock(tx, viewer, here.id, { ids, named: [...own, ...named] });
      },
    };
    const carryOut: ExecuteActions = (tx, on) =>
      executeCommandsInSavepoints(tx, commands, async ({ name }, index) => {
        if (!epicPolicy.mayNest(here) || !epicPolicy.mayWrite(viewer, here)) throw new Forbidden();
        return this.executeTreeAction(
          tx,
          viewer,
          await findEpicByReference(tx, viewer, on),
          name as TreeActionName,
          targets[index]!,
        );
      });
    return Object.assign(carryOut, { holds });
  }

  private async findTargetEpic(viewer: SignedInViewer, ownGroup: GroupScope, argument: string): Promise<EpicTarget> {
    const named = parseArgument.epic(argument);
    if (!named) return { why: 'it names no epic' };
    const { group: path, iid } = named;
    const place = path === null ? ownGroup : await this.directory.findGroup(path, viewer);
    return place ? { groupId: place.id, iid } : { why: 'it was not found' };
  }

  private async executeTreeAction(
    tx: Tx,
    viewer: SignedInViewer,
    own: TreeEpic,
    name: TreeActionName,
    target: EpicTarget,
  ): Promise<ActionResult> {
    if (name === 'remove_parent_epic') return this.removeFromParent(tx, viewer, own);
    if ('why' in target) return target;
    const other = await epicTree.byIid(tx, viewer, target.groupId, target.iid);
    if (!other) throw new NotFound();
    const reference = renderEpicReference(other, own);
    if (name === 'remove_child_epic') {
      if (other.parent_id !== own.id) throw new NotFound();
      await this.children.detachChild(tx, viewer, other);
      return createActionSuccess(`Removed child epic ${reference}.`);
    }
    if (!other.may_write) throw new Forbidden();
    const [parent, child] = name === 'child_epic' ? [own, other] : [other, own];
    await this.children.addChild(tx, viewer, parent, child);
    return createActionSuccess(`Added epic ${reference} as ${name === 'child_epic' ? 'child' : 'parent'} epic.`);
  }

  /** Removes the parent. A parent that the viewer may not see counts as none. */
  private async removeFromParent(tx: Tx, viewer: SignedInViewer, own: TreeEpic): Promise<ActionResult> {
    const parent = own.parent_id === null ? undefined : await epicTree.byId(tx, viewer, own.parent_id);
    if (!parent) throw new NotFound();
    await this.children.detachChild(tx, viewer, own);
    return createActionSuccess(`Removed parent epic ${renderEpicReference(parent, own)}.`);
  }
}

/** Finds the epic of the text. Errors: NotFound if it was deleted meanwhile. */
async function findEpicByReference(tx: Tx, viewer: SignedInViewer, reference: NoteableReference): Promise<TreeEpic> {
  const own = await (reference.by === 'id'
    ? epicTree.byId(tx, viewer, reference.named)
    : epicTree.byIid(tx, viewer, reference.parent.id, reference.named));
  if (!own) throw new NotFound();
  return own;
}

/** Outcome of these commands; clients know no keys for their changes. */
function createActionSuccess(message: string): ActionResult {
  return { said: message, changes: {} };
}
