import { Injectable } from '@nestjs/common';
import type { GroupScope, NamespaceFacts, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { groupAccessLevelSql, projectAccessLevelSql } from '@rookery/directory';
import type { Viewer } from '@rookery/kernel';
import { maySee } from '@rookery/kernel';
import { Database, instantSql, prepareStatement } from '@rookery/persistence';
import {
  projectForkOriginSql,
  projectMergeSettingsSql,
  isGroupReadOnlySql,
  isProjectReadOnlySql,
} from '../change-states';
import { findProjectIdByFormerPath } from './former-paths';
import { OWN_TABLES } from '../reach/reach-sql';

interface ProjectScopeRow {
  readonly project: Omit<ProjectScope, 'kind' | 'namespace' | 'level' | 'fullPath' | 'nameWithNamespace'>;
  readonly namespace: NamespaceFacts;
  readonly level: number;
}

const NAMESPACE = `json_build_object('id', n.id, 'kind', n.kind, 'ownerId', n.owner_id, 'parentId', n.parent_id,
  'traversalIds', n.traversal_ids, 'name', n.name, 'path', n.path, 'fullName', n.full_name, 'fullPath', n.full_path,
  'visibility', n.visibility, 'avatarUrl', n.avatar_url, 'emailsEnabled', n.emails_enabled, 'plan', n.plan,
  'archived', ${isGroupReadOnlySql('n')})`;
const PROJECT = `json_build_object('id', p.id, 'name', p.name, 'path', p.path, 'description', p.description,
  'visibility', p.visibility, 'archived', ${isProjectReadOnlySql('p')}, 'issuesAccessLevel', p.issues_access_level,
  'snippetsAccessLevel', p.snippets_access_level, 'mergeRequestsAccessLevel', p.merge_requests_access_level,
  'repositoryAccessLevel', coalesce(p.settings ->> 'repository_access_level', 'enabled'),
  'featureFlagsAccessLevel', coalesce(p.settings ->> 'feature_flags_access_level', 'enabled'),
  'mergeSettings', coalesce(${projectMergeSettingsSql('p')}, '{}'), 'fork', ${projectForkOriginSql('p')}, 'jobAdmission', p.job_admission,
  'initializeWithReadme', p.initialize_with_readme,
  'packagesEnabled', p.packages_enabled, 'emailsEnabled', p.emails_enabled, 'creatorId', p.creator_id,
  'createdAt', ${instantSql('p.created_at')}, 'defaultBranch', p.default_branch, 'avatarUrl', p.avatar_url)`;

const USER = '$1::bigint';
const inProject = projectAccessLevelSql({ user: USER, project: 'p.id', namespace: 'n', tables: OWN_TABLES });
const inGroup = groupAccessLevelSql({ user: USER, namespace: 'n', tables: OWN_TABLES });
const fromProjects = `select ${PROJECT} as project, ${NAMESPACE} as namespace, ${inProject} as level
  from projects p join namespaces n on n.id = p.namespace_id`;
const fromGroups = `select ${NAMESPACE} as namespace, ${inGroup} as level from namespaces n where n.kind = 'group'`;

const PROJECT_BY_ID = prepareStatement('scope-project-by-id', `${fromProjects} where p.id = $2`);
const PROJECT_BY_PATH = prepareStatement(
  'scope-project-by-path',
  `${fromProjects} where lower(n.full_path) = lower($2) and lower(p.path) = lower($3)`,
);
const GROUP_BY_ID = prepareStatement('scope-group-by-id', `${fromGroups} and n.id = $2`);
const GROUP_BY_PATH = prepareStatement('scope-group-by-path', `${fromGroups} and lower(n.full_path) = lower($2)`);

/** Scope resolver of identity. It reads identity's own tables, which are always up to date. */
@Injectable()
export class IdentityScopeResolver implements ScopeResolver {
  constructor(private readonly db: Database) {}

  async findProject(ref: number | string, viewer: Viewer): Promise<ProjectScope | null> {
    const [row] = await this.findProjectRows(ref, viewer.userId);
    if (!row || !maySee(viewer, row.project.visibility, row.level)) return null;
    const { project, namespace, level } = row;
    return {
      kind: 'project',
      ...project,
      fullPath: `${namespace.fullPath}/${project.path}`,
      nameWithNamespace: `${namespace.fullName} / ${project.name}`,
      namespace,
      level,
    };
  }

  async findGroup(ref: number | string, viewer: Viewer): Promise<GroupScope | null> {
    const statement = typeof ref === 'number' ? GROUP_BY_ID : GROUP_BY_PATH;
    const [row] = await this.db.prepared<ProjectScopeRow>(statement, [viewer.userId, ref]);
    if (!row || !maySee(viewer, row.namespace.visibility, row.level)) return null;
    return { ...row.namespace, kind: 'group', level: row.level };
  }

  async formerProject(fullPath: string, viewer: Viewer): Promise<ProjectScope | null> {
    const id = await findProjectIdByFormerPath(this.db, fullPath);
    // Resolved in any case, so that a hidden project at a new path takes as long as a path that never existed.
    return this.findProject(id ?? 0, viewer);
  }

  /** Resolves at once: there is no copy to wait for. */
  requireFresh(): Promise<void> {
    return Promise.resolve();
  }

  private findProjectRows(ref: number | string, userId: number | null): Promise<ProjectScopeRow[]> {
    if (typeof ref === 'number') return this.db.prepared<ProjectScopeRow>(PROJECT_BY_ID, [userId, ref]);
    const slash = ref.lastIndexOf('/');
    if (slash <= 0) return Promise.resolve([]);
    return this.db.prepared<ProjectScopeRow>(PROJECT_BY_PATH, [userId, ref.slice(0, slash), ref.slice(slash + 1)]);
  }
}
