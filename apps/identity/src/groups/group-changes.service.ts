import { Injectable } from '@nestjs/common';
import type { SignedInViewer } from '@rookery/kernel';
import { Conflict, Invalid, NotFound } from '@rookery/kernel';
import type { Tx } from '@rookery/persistence';
import { Work } from '@rookery/persistence';
import { Avatars } from '../avatars/avatars.service';
import { ChangeLog } from '../directory/change-log';
import { problemsByField, TAKEN } from '../paths/path-rules';
import { NamespaceTrees } from '../paths/namespace-trees.repository';
import { SiblingPaths } from '../paths/sibling-paths.repository';
import { problemsOfGroup, problemsOfLowering, problemsOfTexts } from './group-rules';
import { rangeProblems } from '../group-settings/ip-ranges';
import type { GroupChange } from './group-input';
import { columnsOf, takenFields } from './groups.service';
import { Namespace } from '../group-settings/namespace.entity';

const VISIBILITY_RANK = `case visibility when 'public' then 20 when 'internal' then 10 else 0 end`;

/** How often a group may move away under a change before the change gives up. */
const MAX_TRIES = 5;

/** Changing groups. Source: reference identity-and-import 2.6. */
@Injectable()
export class GroupChangesService {
  constructor(
    private readonly work: Work,
    private readonly log: ChangeLog,
    private readonly paths: SiblingPaths,
    private readonly trees: NamespaceTrees,
    private readonly avatars: Avatars,
  ) {}

  /** Errors: Invalid by field. A rename reaches everything below in the same version of the directory. */
  async update(viewer: SignedInViewer, id: number, params: GroupChange): Promise<void> {
    try {
      await this.work.run((tx) => this.change(tx, viewer, id, params));
    } catch (error) {
      const fields = takenFields(error);
      throw fields ? new Invalid(fields) : error;
    }
  }

  private async change(tx: Tx, viewer: SignedInViewer, id: number, params: GroupChange): Promise<void> {
    const { group: old, parent } = await this.withParent(tx, id);
    const name = params.name ?? old.name;
    const path = params.path ?? old.path;
    const visibility = params.visibility ?? old.visibility;
    const description = params.description === undefined ? old.description : params.description;
    const shape = problemsOfGroup({ name, path, visibility, description }, parent);
    // What was fine when it was made stays, also where rules became stricter since.
    if (name === old.name) delete shape['name'];
    if (path === old.path) delete shape['path'];
    if (visibility === old.visibility) delete shape['visibility_level'];
    const lowered = visibility === old.visibility ? [] : problemsOfLowering(visibility, await this.holds(tx, id));
    const problems = {
      ...shape,
      ...problemsOfTexts(params),
      ...problemsByField({
        visibility_level: [...(shape['visibility_level'] ?? []), ...lowered],
        avatar: this.avatars.problemsOf(params.avatar),
        ip_restriction_ranges: rangeProblems(params.ip_restriction_ranges, parent === null),
      }),
    };
    if (Object.keys(problems).length > 0) throw new Invalid(problems);

    const { settings, ...columns } = columnsOf(params, viewer);
    if (old.parent_id !== null) delete settings?.prevent_sharing_groups_outside_hierarchy;
    const avatar_url = await this.avatars.change(tx, 'group', id, params.avatar);
    const looks = avatar_url === undefined ? {} : { avatar_url };
    const changes = {
      ...columns,
      ...looks,
      visibility,
      settings: { ...old.settings, ...settings },
      updated_at: new Date(),
    };
    await tx.manager.update(Namespace, id, changes);
    if (name !== old.name || path !== old.path) await this.rename(tx, old, parent, { name, path });
    await this.log.recordSubtree(tx, id);
  }

  private async rename(
    tx: Tx,
    old: Namespace,
    parent: Namespace | null,
    to: { name: string; path: string },
  ): Promise<void> {
    await this.trees.lock(tx, old.id);
    const fullName = parent ? `${parent.full_name} / ${to.name}` : to.name;
    const fullPath = parent ? `${parent.full_path}/${to.path}` : to.path;
    if (to.path !== old.path) {
      await this.paths.redirectTree(tx, old.id);
      if (!(await this.paths.take(tx, old.parent_id, to.path, { namespaceId: old.id })))
        throw new Invalid({ path: [TAKEN] });
    }
    const { id, parent_id, traversal_ids } = old;
    const place = { ...to, parent_id, traversal_ids, full_name: fullName, full_path: fullPath };
    await this.trees.place(tx, id, old, place);
    await this.paths.endRedirect(tx, fullPath);
  }

  /** The parent is locked first, as whoever locks the tree above does. Errors: Conflict when it is moved again and again. */
  private async withParent(tx: Tx, id: number): Promise<{ group: Namespace; parent: Namespace | null }> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const [at] = await tx.query<Namespace>(`select parent_id from namespaces where id = $1`, [id]);
      const parent = !at || at.parent_id === null ? null : await this.locked(tx, at.parent_id, 'share');
      const group = await this.locked(tx, id);
      // It may have moved between the look and the lock.
      if (group.parent_id === (parent?.id ?? null)) return { group, parent };
    }
    throw new Conflict('409 Conflict: Resource lock');
  }

  private async locked(tx: Tx, id: number, how: 'share' | 'no key update' = 'no key update'): Promise<Namespace> {
    const [row] = await tx.query<Namespace>(`select * from namespaces where id = $1 and kind = 'group' for ${how}`, [
      id,
    ]);
    if (!row) throw new NotFound('Group');
    return row;
  }

  private async holds(tx: Tx, id: number): Promise<{ project: number; subgroup: number }> {
    const [row] = (await tx.query(
      `select coalesce((select max(${VISIBILITY_RANK}) from projects where namespace_id = $1), 0) as project,
         coalesce((select max(${VISIBILITY_RANK}) from namespaces where parent_id = $1), 0) as subgroup`,
      [id],
    )) as [{ project: number; subgroup: number }];
    return row;
  }
}
