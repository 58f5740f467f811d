import { Injectable } from '@nestjs/common';
import type { DirectoryUserRow } from '@rookery/directory';
import { Directory, isPlaceholderAccount } from '@rookery/directory';
import type { SignedInViewer } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { ancestorIdsOf } from '../../base/noteables/reader';
import type { ParentFacts } from '../../base/noteables/reader';
import type { AssignedPeopleList } from './people-list';

/** Change of the assignees or reviewers of a noteable. */
export interface PeopleChange {
  readonly added: readonly DirectoryUserRow[];
  readonly removed: readonly DirectoryUserRow[];
}

/** The caller who changes the people of a noteable, and its project. */
interface PeopleChangeContext {
  readonly viewer: SignedInViewer;
  readonly project: ParentFacts;
}

/** Chooses and sets the assignees and reviewers of noteables. Source: reference work-tracking 9.1. */
@Injectable()
export class AssignedPeopleService {
  constructor(private readonly directory: Directory) {}

  /**
   * Returns the requested users who can be assigned: active, visible to the viewer, and readers of the project.
   * Duplicates are removed, the order stays. Callers inside a transaction must pass it: waiting for a second connection
   * while holding one can exhaust the pool.
   */
  async filterEligible(
    viewer: SignedInViewer,
    project: ParentFacts,
    requested: readonly number[],
    tx?: Tx,
  ): Promise<DirectoryUserRow[]> {
    const ids = [...new Set(requested)];
    if (ids.length === 0) return [];
    const [users, levels] = await Promise.all([
      this.directory.findUsers(ids, tx),
      this.directory.levelsInProject(project.id, ids, tx),
    ]);
    const candidates = ids.flatMap((id) => {
      const user = users.get(id);
      return user && canBeAssigned(viewer, user, project, levels.get(id) ?? 0) ? [user] : [];
    });
    // A reader of the project sees members of its ancestor groups as members of the project.
    return this.directory.filterVisible(viewer, candidates, tx, ancestorIdsOf(project));
  }

  /** Sets the people to exactly these users. */
  async assignUsers(
    tx: Tx,
    list: AssignedPeopleList,
    noteableId: number,
    before: readonly number[],
    users: readonly DirectoryUserRow[],
  ): Promise<PeopleChange> {
    const ids = users.map((user) => user.id);
    const removedIds = before.filter((id) => !ids.includes(id));
    await list.setUsers(tx, noteableId, before, ids);
    const removed = await this.directory.findUsers(removedIds, tx);
    return {
      added: users.filter((user) => !before.includes(user.id)),
      removed: removedIds.flatMap((id) => removed.get(id) ?? []),
    };
  }

  /**
   * Sets the people to the requested users who can be assigned. If `requested` is undefined, nothing changes. Requested
   * users who have the noteable already stay, even if they could not be assigned again.
   */
  async reassignUsers(
    tx: Tx,
    { viewer, project }: PeopleChangeContext,
    list: AssignedPeopleList,
    noteable: { readonly id: number; readonly before: readonly number[] },
    requested: readonly number[] | undefined,
  ): Promise<PeopleChange> {
    if (requested === undefined) return { added: [], removed: [] };
    const { id: noteableId, before } = noteable;
    const kept = before.filter((id) => requested.includes(id));
    const users = await this.filterEligible(viewer, project, requested, tx);
    const staying = await this.directory.findUsers(
      kept.filter((id) => !users.some((user) => user.id === id)),
      tx,
    );
    return this.assignUsers(tx, list, noteableId, before, [...users, ...staying.values()]);
  }
}

/**
 * Checks whether a user can be assigned. Only administrators and the user themselves see that the user is an
 * administrator; for other viewers only the user's role counts.
 */
function canBeAssigned(viewer: SignedInViewer, user: DirectoryUserRow, project: ParentFacts, level: number): boolean {
  if (user.state !== 'active' || isPlaceholderAccount(user)) return false;
  if (level > 0 || project.visibility === 'public') return true;
  if (user.admin && (viewer.isAdmin || viewer.userId === user.id)) return true;
  return project.visibility === 'internal' && !user.external;
}
