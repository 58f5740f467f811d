import { Injectable } from '@nestjs/common';
import { epicEvents } from '@rookery/contracts';
import { Conflict, Forbidden, Invalid, NotFound } from '@rookery/kernel';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { NoteLimit } from '../../../talk/notes/note-limit';
import { systemNotes, writeSystemNotes } from '../../../talk/notes/system-notes';
import { MOST_LEVELS } from '../epic-days';
import { createEpicParentChangedEvent } from '../epic-events';
import { CONFIDENTIAL_CHILDREN_ONLY, CONFIDENTIAL_PARENT, Epic } from '../epic.entity';
import { epicKind } from '../epic.kind';
import { epicPolicy } from '../epic.policy';
import type { EpicGroup } from '../epics.queries';
import { epicTree } from './epic-tree';
import type { ReferredEpic, TreeEpic } from './epic-tree';

const CANNOT = 'This epic cannot be added.';
const REFUSALS = {
  self: `${CANNOT} An epic cannot be added to itself.`,
  ancestor: `${CANNOT} It is already an ancestor of the parent epic.`,
  already: 'Epic(s) already assigned',
  elsewhere: `${CANNOT} It must belong to the same group hierarchy as the parent epic.`,
  deep: `${CANNOT} One or more epics would exceed the maximum depth (${MOST_LEVELS}) from its most distant ancestor.`,
} as const;
const UNKNOWN = 'No matching epic found. Make sure that you are adding a valid epic URL.';

/** Author and time of a change. Units: `at` is the time of the database. */
interface ChangedBy {
  readonly viewer: SignedInViewer;
  readonly at: Date;
}

/**
 * Sets and removes parents of epics, inside a transaction that has locked the tree. Source: reference work-tracking
 * 5.7.
 */
@Injectable()
export class EpicParentsService {
  constructor(private readonly noteLimit: NoteLimit) {}

  /**
   * Sets the parent from a write of the epic; returns whether it changed. A parent that the viewer may not see counts
   * as none: it is neither set nor removed. Errors: Forbidden; Conflict; Invalid.
   */
  async setParent(tx: Tx, group: EpicGroup, epicId: number, parentId: number | null, by: ChangedBy): Promise<boolean> {
    const own = (await epicTree.byId(tx, by.viewer, epicId))!;
    const old = own.parent_id === null ? undefined : await epicTree.byId(tx, by.viewer, own.parent_id);
    if (parentId === null) {
      if (old) await this.releaseChild(tx, own, by);
      return old !== undefined;
    }
    const parent = await epicTree.byId(tx, by.viewer, parentId);
    if (!parent || !epicPolicy.mayNest(group) || parent.id === old?.id) return false;
    if (!parent.may_write) throw new Forbidden();
    await this.adoptChild(tx, parent, own, by);
    return true;
  }

  /** Finds an epic to add to or remove from a parent. Errors: NotFound unless the viewer sees it and may change it. */
  async lockChild(tx: Tx, viewer: SignedInViewer, id: number): Promise<TreeEpic> {
    const child = await epicTree.byId(tx, viewer, id);
    if (!child?.may_write) throw new NotFound(UNKNOWN, { verbatim: true });
    return child;
  }

  /** Makes an epic the first child of the parent; it leaves its previous parent. Errors: Conflict; Invalid. */
  async adoptChild(tx: Tx, parent: TreeEpic, child: TreeEpic, by: ChangedBy): Promise<void> {
    await assertEpicMayBecomeChild(tx, parent, child);
    const old = await epicTree.parentOf(tx, child.id);
    this.noteLimit.countNotes(tx, by.viewer);
    if (old) await writeParentAndChildNotes(tx, 'removed', { parent: old, child }, by);
    await epicTree.setParent(tx, child.id, parent.id, by.at);
    await writeParentAndChildNotes(tx, 'added', { parent, child }, by);
  }

  /** Removes an epic from its parent. */
  async releaseChild(tx: Tx, child: TreeEpic, by: ChangedBy): Promise<void> {
    const parent = await epicTree.parentOf(tx, child.id);
    if (!parent) return;
    this.noteLimit.countNotes(tx, by.viewer);
    await epicTree.setParent(tx, child.id, null, by.at);
    await writeParentAndChildNotes(tx, 'removed', { parent, child }, by);
  }

  /** Emits that an epic changed, for changes of the tree alone. */
  async emitChange(tx: Tx, epicId: number, by: ChangedBy): Promise<void> {
    const epic = await tx.manager.findOneByOrFail(Epic, { id: epicId });
    tx.emit(epicEvents.updated.of(createEpicParentChangedEvent(by.viewer, epic, by.at)));
  }

  /**
   * Checks confidentiality against parent and children: a viewer of an epic below a confidential one must see both.
   * Errors: Invalid.
   */
  async assertConfidentialityFits(tx: Tx, { id, confidential }: Pick<Epic, 'id' | 'confidential'>): Promise<void> {
    if (confidential && (await epicTree.hasNonConfidentialChild(tx, id)))
      throw createInvalidConfidentialityError(CONFIDENTIAL_CHILDREN_ONLY);
    if (!confidential && (await epicTree.parentOf(tx, id))?.confidential)
      throw createInvalidConfidentialityError(CONFIDENTIAL_PARENT);
  }
}

async function assertEpicMayBecomeChild(tx: Tx, parent: TreeEpic, child: TreeEpic): Promise<void> {
  if (child.id === parent.id) throw new Conflict(REFUSALS.self);
  if (child.parent_id === parent.id) throw new Conflict(REFUSALS.already);
  if (child.root !== parent.root) throw new Conflict(REFUSALS.elsewhere);
  const above = await epicTree.listAncestors(tx, parent.id);
  if (above.includes(child.id)) throw new Conflict(REFUSALS.ancestor);
  if (above.length + (await epicTree.height(tx, child.id)) > MOST_LEVELS) throw new Conflict(REFUSALS.deep);
  if (parent.confidential && !child.confidential) throw createInvalidConfidentialityError(CONFIDENTIAL_PARENT);
}

function createInvalidConfidentialityError(why: string): Invalid {
  return new Invalid({ confidential: [why] });
}

/** Writes a system note on both epics. */
async function writeParentAndChildNotes(
  tx: Tx,
  verb: 'added' | 'removed',
  { parent, child }: { readonly parent: ReferredEpic; readonly child: ReferredEpic },
  { viewer, at }: ChangedBy,
): Promise<void> {
  const write = async (on: ReferredEpic, as: 'child' | 'parent', other: ReferredEpic): Promise<void> => {
    const body = systemNotes.epicTree(verb, as, renderEpicReference(other, on));
    await writeSystemNotes(tx, epicKind, {
      ...{ noteableId: on.id, projectId: null, actorId: viewer.userId, bodies: [body], at },
      referenced: { type: epicKind.type, id: other.id },
    });
  };
  await write(parent, 'child', child);
  await write(child, 'parent', parent);
}

/** Reference to an epic from another one; without the path if both are in one group. */
export function renderEpicReference(epic: ReferredEpic, from: Pick<ReferredEpic, 'group_id'>): string {
  return `${epic.group_id === from.group_id ? '' : epic.full_path}${epicKind.sigil}${epic.iid}`;
}
