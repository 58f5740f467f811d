import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { epicPolicy } from '../epic.policy';
import { EpicsService } from '../epics.service';
import type { EpicKey } from '../issues/epic-issues.queries';
import { reorderIds } from '../neighbours';
import type { Neighbours } from '../neighbours';
import { ChildEpicsQueries } from './child-epics.queries';
import { EpicParentsService } from './epic-parents.service';
import { epicTree } from './epic-tree';
import type { TreeEpic } from './epic-tree';

/** Creates, adds, removes and orders child epics. Methods return JSON text. Source: reference work-tracking 5.7. */
@Injectable()
export class ChildEpicsService {
  constructor(
    private readonly work: Work,
    private readonly directory: Directory,
    private readonly queries: ChildEpicsQueries,
    private readonly epics: EpicsService,
    private readonly parents: EpicParentsService,
    private readonly noteLimit: NoteLimit,
  ) {}

  /**
   * Creates a child in the group of its parent. Errors: NotFound of the parent; Forbidden; Conflict; Invalid by field.
   */
  async create(
    viewer: SignedInViewer,
    named: EpicKey,
    { title, confidential }: { readonly title: string; readonly confidential: boolean | undefined },
  ): Promise<string> {
    await this.directory.requireFresh(viewer);
    const id = await this.work.run(async (tx) => {
      this.noteLimit.countNotes(tx, viewer);
      const parent = await this.lockParentAndEpics(tx, viewer, named, []);
      const fields = { title, confidential: confidential ?? parent.confidential };
      const created = await this.epics.openEpic(tx, viewer, named.group, { fields, labels: undefined, at: undefined });
      const child = await this.parents.lockChild(tx, viewer, created.id);
      await this.parents.adoptChild(tx, parent, child, { viewer, at: parent.at });
      return created.id;
    });
    return this.queries.findLink(viewer, named, id);
  }

  /**
   * Makes an epic a child; it leaves its previous parent. Errors: NotFound of the parent or the child; Forbidden;
   * Conflict; Invalid.
   */
  async assign(viewer: SignedInViewer, named: EpicKey, childId: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    await this.work.run(async (tx) => {
      this.noteLimit.countNotes(tx, viewer);
      const parent = await this.lockParentAndEpics(tx, viewer, named, [childId]);
      await this.addChild(tx, viewer, parent, await this.parents.lockChild(tx, viewer, childId));
    });
    return this.queries.findChild(viewer, named, childId);
  }

  /** Removes a child from its parent and returns it. Errors: NotFound of the parent or the child; Forbidden. */
  async remove(viewer: SignedInViewer, named: EpicKey, childId: number): Promise<string> {
    await this.directory.requireFresh(viewer);
    await this.work.run(async (tx) => {
      this.noteLimit.countNotes(tx, viewer);
      const parent = await this.lockParentAndEpics(tx, viewer, named, [childId]);
      await this.detachChild(tx, viewer, await requireChildEpic(tx, viewer, parent, childId));
    });
    return this.queries.findChild(viewer, named, childId);
  }

  /**
   * Moves a child between two others. Errors: NotFound of the parent or the child; Forbidden; Refused for an impossible
   * position.
   */
  async reorder(viewer: SignedInViewer, named: EpicKey, childId: number, neighbours: Neighbours): Promise<void> {
    await this.directory.requireFresh(viewer);
    await this.work.run(async (tx) => {
      const neighbourIds = [neighbours.before, neighbours.after].filter((id) => id !== undefined);
      const parent = await this.lockParentAndEpics(tx, viewer, named, [childId, ...neighbourIds]);
      const child = await requireChildEpic(tx, viewer, parent, childId);
      // Refuses a neighbour that the caller may not see in the same way as a missing one.
      for (const id of neighbourIds) {
        if ((await epicTree.byId(tx, viewer, id))?.parent_id !== parent.id) throw createEpicMoveRefusal();
      }
      const children = await epicTree.listChildren(tx, parent.id);
      const ids = children.map(({ id }) => id);
      await epicTree.order(tx, reorderIds(ids, child.id, neighbours, createEpicMoveRefusal), child.id, children);
    });
  }

  /** Makes an epic a child and emits the change. Errors: Conflict; Invalid. */
  async addChild(tx: Tx, viewer: SignedInViewer, parent: TreeEpic, child: TreeEpic): Promise<void> {
    const by = { viewer, at: parent.at };
    await this.parents.adoptChild(tx, parent, child, by);
    await this.parents.emitChange(tx, child.id, by);
  }

  /** Removes an epic from its parent and emits the change. Errors: Forbidden. */
  async detachChild(tx: Tx, viewer: SignedInViewer, child: TreeEpic): Promise<void> {
    if (!child.may_write) throw new Forbidden();
    const by = { viewer, at: child.at };
    await this.parents.releaseChild(tx, child, by);
    await this.parents.emitChange(tx, child.id, by);
  }

  /** Locks the tree, the epic that the path names, and further epics. Returns the first. Errors: NotFound; Forbidden. */
  private async lockParentAndEpics(
    tx: Tx,
    viewer: SignedInViewer,
    { group, iid }: EpicKey,
    furtherEpicIds: readonly number[],
  ): Promise<TreeEpic> {
    await epicTree.lock(tx, viewer, group.id, { ids: furtherEpicIds, named: [{ groupId: group.id, iid }] });
    const parent = await epicTree.byIid(tx, viewer, group.id, iid);
    if (!parent) throw new NotFound();
    if (!epicPolicy.mayWrite(viewer, group)) throw new Forbidden();
    return parent;
  }
}

/** Finds a child of the parent. Errors: NotFound if the viewer may not see it or it is no child of that epic. */
async function requireChildEpic(tx: Tx, viewer: SignedInViewer, parent: TreeEpic, id: number): Promise<TreeEpic> {
  const child = await epicTree.byId(tx, viewer, id);
  if (child?.parent_id !== parent.id) throw new NotFound();
  return child;
}

function createEpicMoveRefusal(): Refused {
  return new Refused('Epic could not be moved!', { underError: true });
}
