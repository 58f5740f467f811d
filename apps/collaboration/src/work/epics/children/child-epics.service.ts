import { Injectable } from '@nestjs/common';
import { Directory } from '@rookery/directory';
import { Forbidden, NotFound, Refused } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import { Work } from '@rookery/persistence';
import type { Tx } from '@rookery/persistence';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { epicPolicy } from '../epic.policy';
import { EpicsService } from '../epics.service';
import type { NamedEpic } from '../issues/epic-issues.queries';
import { placed } from '../neighbours';
import type { Neighbours } from '../neighbours';
import { ChildEpicsQueries } from './child-epics.queries';
import { EpicParentsService } from './epic-parents.service';
import { epicTree } from './epic-tree';
import type { TreeEpic } from './epic-tree';

/** Epics below epics; answers are JSON text. Source: reference work-tracking 5.7. */
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

  /** Opens one in the group of its parent. Errors: NotFound of the parent; Forbidden; Conflict; Invalid by field. */
  async create(
    viewer: SignedInViewer,
    named: NamedEpic,
    { title, confidential }: { readonly title: string; readonly confidential: boolean | undefined },
  ): Promise<string> {
    await this.directory.fresh(viewer);
    const id = await this.work.run(async (tx) => {
      this.noteLimit.count(tx, viewer);
      const parent = await this.parent(tx, viewer, named, []);
      const fields = { title, confidential: confidential ?? parent.confidential };
      const made = await this.epics.open(tx, viewer, named.group, { fields, labels: undefined, at: undefined });
      const child = await this.parents.child(tx, viewer, made.id);
      await this.parents.adopt(tx, parent, child, { viewer, at: parent.at });
      return made.id;
    });
    return this.queries.link(viewer, named, id);
  }

  /** Of another parent it is taken. Errors: NotFound of the parent or the child; Forbidden; Conflict; Invalid. */
  async assign(viewer: SignedInViewer, named: NamedEpic, childId: number): Promise<string> {
    await this.directory.fresh(viewer);
    await this.work.run(async (tx) => {
      this.noteLimit.count(tx, viewer);
      const parent = await this.parent(tx, viewer, named, [childId]);
      await this.put(tx, viewer, parent, await this.parents.child(tx, viewer, childId));
    });
    return this.queries.one(viewer, named, childId);
  }

  /** Answers what is a child no more. Errors: NotFound of the parent or the child; Forbidden. */
  async remove(viewer: SignedInViewer, named: NamedEpic, childId: number): Promise<string> {
    await this.directory.fresh(viewer);
    await this.work.run(async (tx) => {
      this.noteLimit.count(tx, viewer);
      const parent = await this.parent(tx, viewer, named, [childId]);
      await this.take(tx, viewer, await childOf(tx, viewer, parent, childId));
    });
    return this.queries.one(viewer, named, childId);
  }

  /** Errors: NotFound of the parent or the child; Forbidden; Refused where there is no such place. */
  async reorder(viewer: SignedInViewer, named: NamedEpic, childId: number, wish: Neighbours): Promise<void> {
    await this.directory.fresh(viewer);
    await this.work.run(async (tx) => {
      const beside = [wish.before, wish.after].filter((id) => id !== undefined);
      const parent = await this.parent(tx, viewer, named, [childId, ...beside]);
      const child = await childOf(tx, viewer, parent, childId);
      // Beside a child that the caller may not know of nothing is put, as if it were not there.
      for (const id of beside) {
        if ((await epicTree.byId(tx, viewer, id))?.parent_id !== parent.id) throw stuck();
      }
      const children = await epicTree.children(tx, parent.id);
      const ids = children.map(({ id }) => id);
      await epicTree.order(tx, placed(ids, child.id, wish, stuck), child.id, children);
    });
  }

  /** Makes an epic a child, and announces it. Errors: Conflict; Invalid. */
  async put(tx: Tx, viewer: SignedInViewer, parent: TreeEpic, child: TreeEpic): Promise<void> {
    const by = { viewer, at: parent.at };
    await this.parents.adopt(tx, parent, child, by);
    await this.parents.announce(tx, child.id, by);
  }

  /** Takes an epic out from below its parent, and announces it. Errors: Forbidden. */
  async take(tx: Tx, viewer: SignedInViewer, child: TreeEpic): Promise<void> {
    if (!child.may_write) throw new Forbidden();
    const by = { viewer, at: child.at };
    await this.parents.release(tx, child, by);
    await this.parents.announce(tx, child.id, by);
  }

  /** Holds the tree, what the path names and those others. Errors: NotFound; Forbidden. */
  private async parent(
    tx: Tx,
    viewer: SignedInViewer,
    { group, iid }: NamedEpic,
    ids: readonly number[],
  ): Promise<TreeEpic> {
    await epicTree.hold(tx, viewer, group.id, { ids, named: [{ groupId: group.id, iid }] });
    const parent = await epicTree.byIid(tx, viewer, group.id, iid);
    if (!parent) throw new NotFound();
    if (!epicPolicy.mayWrite(viewer, group)) throw new Forbidden();
    return parent;
  }
}

/** Errors: NotFound unless the viewer may know of it and it is a child of that epic. */
async function childOf(tx: Tx, viewer: SignedInViewer, parent: TreeEpic, id: number): Promise<TreeEpic> {
  const child = await epicTree.byId(tx, viewer, id);
  if (child?.parent_id !== parent.id) throw new NotFound();
  return child;
}

function stuck(): Refused {
  return new Refused('Epic could not be moved!', { underError: true });
}
