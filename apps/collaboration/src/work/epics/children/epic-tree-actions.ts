import { Injectable } from '@nestjs/common';
import type { GroupScope } from '@rookery/api-v4';
import { Directory } from '@rookery/directory';
import { Forbidden, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { oneByOne } from '../../../talk/mentions/quick-actions/action-set';
import type { Asking, CarriesOut, Outcome } from '../../../talk/mentions/quick-actions/action-set';
import { argumentsOf } from '../../../talk/mentions/quick-actions/arguments';
import type { Command } from '../../../talk/mentions/quick-actions/commands-in';
import { QuickActionsService } from '../../../talk/mentions/quick-actions/quick-actions.service';
import type { NamedNoteable } from '../../../base/noteables/reader';
import { epicKind } from '../epic.kind';
import { epicPolicy } from '../epic.policy';
import { ChildEpicsService } from './child-epics.service';
import { referenceOf } from './epic-parents.service';
import { endsOf, epicTree } from './epic-tree';
import type { TreeEpic } from './epic-tree';

/** The epic that a command names; else why there is none. */
type Meant = { readonly groupId: number; readonly iid: number } | { readonly why: string };
type Name = 'child_epic' | 'remove_child_epic' | 'parent_epic' | 'remove_parent_epic';
const NAMES: readonly Name[] = ['child_epic', 'remove_child_epic', 'parent_epic', 'remove_parent_epic'];

/** Commands on the place of an epic in its tree. Source: reference work-tracking 2.6, 5.7. */
@Injectable()
export class EpicTreeActions {
  constructor(
    actions: QuickActionsService,
    private readonly directory: Directory,
    private readonly children: ChildEpicsService,
  ) {
    actions.declare({
      names: NAMES,
      isFirst: 'above',
      fits: (kind) => kind === epicKind,
      plan: (asking, commands) => this.plan(asking, commands),
    });
  }

  private async plan({ viewer, parent, epicId }: Asking, commands: readonly Command[]): Promise<CarriesOut> {
    const here = parent as GroupScope;
    const meant: Meant[] = [];
    for (const { argument } of commands) meant.push(await this.meant(viewer, here, argument));
    const named = meant.filter((one) => 'iid' in one);
    const holds: CarriesOut['holds'] = {
      above: async (tx, on) => {
        const { ids = [], named: own = [] } = endsOf(on, epicId);
        await epicTree.hold(tx, viewer, here.id, { ids, named: [...own, ...named] });
      },
    };
    const carryOut: CarriesOut = (tx, on) =>
      oneByOne(tx, commands, async ({ name }, index) => {
        if (!epicPolicy.mayNest(here) || !epicPolicy.mayWrite(viewer, here)) throw new Forbidden();
        return this.carryOut(tx, viewer, await ownOf(tx, viewer, on), name as Name, meant[index]!);
      });
    return Object.assign(carryOut, { holds });
  }

  private async meant(viewer: SignedInViewer, here: GroupScope, argument: string): Promise<Meant> {
    const named = argumentsOf.epic(argument);
    if (!named) return { why: 'it names no epic' };
    const { group: path, iid } = named;
    const place = path === null ? here : await this.directory.group(path, viewer);
    return place ? { groupId: place.id, iid } : { why: 'it was not found' };
  }

  private async carryOut(tx: Tx, viewer: SignedInViewer, own: TreeEpic, name: Name, meant: Meant): Promise<Outcome> {
    if (name === 'remove_parent_epic') return this.leave(tx, viewer, own);
    if ('why' in meant) return meant;
    const other = await epicTree.byIid(tx, viewer, meant.groupId, meant.iid);
    if (!other) throw new NotFound();
    const reference = referenceOf(other, own);
    if (name === 'remove_child_epic') {
      if (other.parent_id !== own.id) throw new NotFound();
      await this.children.take(tx, viewer, other);
      return done(`Removed child epic ${reference}.`);
    }
    if (!other.may_write) throw new Forbidden();
    const [parent, child] = name === 'child_epic' ? [own, other] : [other, own];
    await this.children.put(tx, viewer, parent, child);
    return done(`Added epic ${reference} as ${name === 'child_epic' ? 'child' : 'parent'} epic.`);
  }

  /** A parent that the viewer may not know of is told as none. */
  private async leave(tx: Tx, viewer: SignedInViewer, own: TreeEpic): Promise<Outcome> {
    const parent = own.parent_id === null ? undefined : await epicTree.byId(tx, viewer, own.parent_id);
    if (!parent) throw new NotFound();
    await this.children.take(tx, viewer, own);
    return done(`Removed parent epic ${referenceOf(parent, own)}.`);
  }
}

/** Errors: NotFound when it went meanwhile. */
async function ownOf(tx: Tx, viewer: SignedInViewer, on: NamedNoteable): Promise<TreeEpic> {
  const own = await (on.by === 'id'
    ? epicTree.byId(tx, viewer, on.named)
    : epicTree.byIid(tx, viewer, on.parent.id, on.named));
  if (!own) throw new NotFound();
  return own;
}

/** Clients know no keys of these commands. */
function done(said: string): Outcome {
  return { said, changes: {} };
}
