import { Injectable } from '@nestjs/common';
import type { Viewer } from '@rookery/kernel';
import { NotFound } from '@rookery/kernel';
import { ProjectsQueries } from '../projects/projects.queries';
import type { GroupDetailRow } from './group-row';
import { mayAdministerGroup } from './group.policy';
import { GroupsQueries } from './groups.queries';

/** Gathers what a single group shows, for this caller and this kind of answer. Source: reference identity-and-import 2.3. */
@Injectable()
export class GroupDetails {
  constructor(
    private readonly groups: GroupsQueries,
    private readonly projects: ProjectsQueries,
  ) {}

  async of(
    group: { readonly id: number; readonly level: number },
    viewer: Viewer,
    shows: { readonly secrets: boolean; readonly projects: boolean; readonly attributes?: boolean },
  ): Promise<GroupDetailRow> {
    const [row, own, invited] = await Promise.all([
      this.groups.one(viewer, group.id, { attributes: viewer.isAdmin && shows.attributes === true }),
      shows.projects ? this.projects.ofGroup(viewer, group.id) : undefined,
      shows.projects ? this.projects.sharedInto(viewer, group.id) : undefined,
    ]);
    if (!row) throw new NotFound('Group');
    return {
      ...row,
      shows_secrets: shows.secrets && mayAdministerGroup(viewer, group),
      ...(own && invited ? { projects: own, shared_projects: invited } : {}),
    };
  }
}
