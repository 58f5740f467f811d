import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Invalid, NotFound, keepFieldsWithProblems } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { AvatarsService } from '../avatars/avatars.service';
import { ChangeLog } from '../directory/change-log';
import { TAKEN } from '../namespaces/paths/path-rules';
import { NamespaceTreesService, visibilityRankSql } from '../namespaces/paths/namespace-trees.service';
import { NamespacesService } from '../namespaces/namespaces.service';
import { splitGroupChange, problemsOfGroup, groupVisibilityLoweringProblems } from './group-rules';
import type { GroupChange } from './group-input';
import { groupFieldProblemsOf } from './groups.service';
import type { NamespaceRecord } from '../namespaces/namespace.entity';

const VISIBILITY_RANK = visibilityRankSql('visibility');

/** Maximum number of attempts when the group is moved concurrently. */
const MAX_TRIES = 5;

/** Updates the fields of groups, and moves the paths below a renamed group. Source: reference identity-and-import 2.6. */
@Injectable()
export class GroupChangesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly namespaces: NamespacesService,
    private readonly trees: NamespaceTreesService,
    private readonly avatars: AvatarsService,
  ) {}

  /**
   * Updates a group. A new path changes the paths of all namespaces below, under one new version of the directory. Errors:
   * Invalid by field.
   */
  async update(viewer: SignedInViewer, id: number, params: GroupChange): Promise<void> {
    try {
      await this.work.run((tx) => this.changeGroup(tx, viewer, id, params));
    } catch (error) {
      const fields = groupFieldProblemsOf(error);
      throw fields ? new Invalid(fields) : error;
    }
  }

  private async changeGroup(tx: Tx, viewer: SignedInViewer, id: number, params: GroupChange): Promise<void> {
    const { group: old, parent } = await this.lockWithParent(tx, id);
    const { avatar, stored, ...parts } = splitGroupChange(viewer, params);
    const {
      name = old.name,
      path = old.path,
      visibility = old.visibility,
      description = old.description,
    } = parts.shape;
    const shape = problemsOfGroup({ name, path, visibility, description }, parent);
    // Unchanged values are not validated, because rules may have become stricter since they were stored.
    if (name === old.name) delete shape['name'];
    if (path === old.path) delete shape['path'];
    if (visibility === old.visibility) delete shape['visibility_level'];
    const lowered =
      visibility === old.visibility
        ? []
        : groupVisibilityLoweringProblems(visibility, await this.findHighestChildVisibilities(tx, id));
    const problems = {
      ...shape,
      ...parts.problems,
      ...keepFieldsWithProblems({
        visibility_level: [...(shape['visibility_level'] ?? []), ...lowered],
        avatar: this.avatars.findProblems(avatar),
      }),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);

    const { settings, ...columns } = stored;
    if (old.parent_id !== null) delete settings.prevent_sharing_groups_outside_hierarchy;
    const avatarUrl = await this.avatars.changeAvatar(tx, 'group', id, avatar);
    const looks = avatarUrl === undefined ? {} : { avatarUrl };
    const changes = { ...columns, ...looks, visibility, settings: { ...old.settings, ...settings } };
    await this.namespaces.changeColumns(tx, id, changes);
    if (name !== old.name || path !== old.path) await this.renameGroup(tx, old, parent, { name, path });
    await this.log.recordSubtree(tx, id);
  }

  /**
   * Gives a group another name and path in a given transaction, each unless another one has it. Returns the group as it
   * was. `wanted` gets the locked group. Errors: NotFound.
   */
  async renameIfFree(
    tx: Tx,
    id: number,
    wanted: (group: NamespaceRecord) => { readonly name: string; readonly path: string },
  ): Promise<NamespaceRecord> {
    const { group, parent } = await this.lockWithParent(tx, id);
    const to = wanted(group);
    const [taken] = await tx.query<{ name: boolean; path: boolean }>(
      `select exists (select 1 from namespaces where parent_id = $1 and kind = 'group' and name = $2 and id <> $4) as name,
         exists (select 1 from sibling_paths where parent_id = coalesce($1, 0) and path = lower($3)
           and namespace_id is distinct from $4) as path`,
      [group.parent_id, to.name, to.path, id],
    );
    const name = taken!.name ? group.name : to.name;
    const path = taken!.path ? group.path : to.path;
    if (name !== group.name || path !== group.path) await this.renameGroup(tx, group, parent, { name, path });
    await this.log.recordSubtree(tx, id);
    return group;
  }

  private async renameGroup(
    tx: Tx,
    old: NamespaceRecord,
    parent: NamespaceRecord | null,
    to: { name: string; path: string },
  ): Promise<void> {
    await this.trees.lockTree(tx, old.id);
    const fullName = parent ? `${parent.full_name} / ${to.name}` : to.name;
    const fullPath = parent ? `${parent.full_path}/${to.path}` : to.path;
    const { parent_id, traversal_ids } = old;
    const place = { ...to, parent_id, traversal_ids, full_name: fullName, full_path: fullPath };
    if (!(await this.trees.moveTree(tx, old, place))) throw new Invalid({ path: [TAKEN] });
  }

  /**
   * Locks the parent before the group, like transactions that lock the tree above. Errors: Conflict when the group is
   * moved repeatedly.
   */
  async lockWithParent(tx: Tx, id: number): Promise<{ group: NamespaceRecord; parent: NamespaceRecord | null }> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [at] = await tx.query<NamespaceRecord>(`select parent_id from namespaces where id = $1`, [id]);
      const parent = !at || at.parent_id === null ? null : await this.lockGroup(tx, at.parent_id, 'share');
      const group = await this.lockGroup(tx, id);
      // The group may have been moved between reading and locking.
      if (group.parent_id === (parent?.id ?? null)) return { group, parent };
    }
    throw new Conflict('409 Conflict: Resource lock');
  }

  private async lockGroup(
    tx: Tx,
    id: number,
    lockMode: 'share' | 'no key update' = 'no key update',
  ): Promise<NamespaceRecord> {
    const [row] = await tx.query<NamespaceRecord>(
      `select * from namespaces where id = $1 and kind = 'group' for ${lockMode}`,
      [id],
    );
    if (!row) throw new NotFound('Group');
    return row;
  }

  private async findHighestChildVisibilities(tx: Tx, id: number): Promise<{ project: number; subgroup: number }> {
    const [row] = (await tx.query(
      `select coalesce((select max(${VISIBILITY_RANK}) from projects where namespace_id = $1), 0) as project,
         coalesce((select max(${VISIBILITY_RANK}) from namespaces where parent_id = $1), 0) as subgroup`,
      [id],
    )) as [{ project: number; subgroup: number }];
    return row;
  }
}
