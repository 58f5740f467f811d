import { Inject, Injectable } from '@nestjs/common';
import type { GroupScope, ProjectScope, ScopeResolver } from '@rookery/api-v4';
import { SCOPE_RESOLVER } from '@rookery/api-v4';
import { ACCESS_LEVELS } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';
import { Database } from '@rookery/persistence';
import { platformSettings } from '@rookery/platform';
import type { SettingsOf } from '@rookery/platform';
import { identitySettings } from '../identity.config';
import { isProjectVisibleSql } from '../directory/reach/seen-sql';
import type { Badge } from './badge.entity';
import { findBadgePlaceholders, replaceBadgePlaceholders } from './badge-url';
import type { BadgeFacts, Placeholder } from './badge-url';
import { CollaborationClient } from './collaboration-client';

/** The project or group whose badges are rendered. */
export type BadgeSource = ProjectScope | GroupScope;

/** A badge with the placeholders of its URLs replaced. */
export interface RenderedBadge {
  readonly badge: Badge;
  readonly linkUrl: string;
  readonly imageUrl: string;
}

/** Replaces placeholders, for all badges of an answer in one pass. Source: reference identity-and-import 8. */
@Injectable()
export class BadgeRendering {
  constructor(
    private readonly db: Database,
    private readonly collaboration: CollaborationClient,
    @Inject(SCOPE_RESOLVER) private readonly scopes: ScopeResolver,
    @Inject(platformSettings.token) private readonly platform: SettingsOf<typeof platformSettings>,
    @Inject(identitySettings.token) private readonly settings: SettingsOf<typeof identitySettings>,
  ) {}

  /**
   * Renders badges. Badges of a group use the values of its first project that the viewer can see; without one their
   * placeholders stay.
   */
  async renderBadges(source: BadgeSource, viewer: Viewer, badges: readonly Badge[]): Promise<RenderedBadge[]> {
    const wanted = findBadgePlaceholders(badges.flatMap((badge) => [badge.linkUrl, badge.imageUrl]));
    const facts = wanted.size === 0 ? {} : await this.findBadgeFacts(source, viewer, wanted);
    return badges.map((badge) => ({
      badge,
      linkUrl: replaceBadgePlaceholders(badge.linkUrl, facts),
      imageUrl: replaceBadgePlaceholders(badge.imageUrl, facts),
    }));
  }

  private async findBadgeFacts(
    source: BadgeSource,
    viewer: Viewer,
    wanted: ReadonlySet<Placeholder>,
  ): Promise<BadgeFacts> {
    const project = source.kind === 'project' ? source : await this.findFirstVisibleProject(source, viewer);
    if (project === null) return {};
    const host = new URL(this.platform.externalUrl).hostname;
    const { namespace } = project;
    return {
      project_path: project.fullPath,
      project_title: project.name,
      project_name: project.path,
      project_id: String(project.id),
      project_namespace: namespace.fullPath,
      // Names of groups contain no slash.
      group_name: namespace.kind === 'group' ? namespace.fullName.split(' / ', 1)[0]! : null,
      host_server: host,
      pages_domain: this.settings.pagesDomain ?? `pages.${host}`,
      ...(await this.findRepositoryFacts(project, wanted)),
    };
  }

  /** Fetches facts that only collaboration has, if the placeholders need them. */
  private async findRepositoryFacts(project: ProjectScope, wanted: ReadonlySet<Placeholder>): Promise<BadgeFacts> {
    const { defaultBranch } = project;
    const isNeeded =
      wanted.has('commit_sha') || wanted.has('latest_tag') || (wanted.has('default_branch') && defaultBranch === null);
    const known = isNeeded ? await this.collaboration.findRepositoryFacts(project.id) : null;
    return {
      default_branch: defaultBranch ?? known?.default_branch ?? null,
      commit_sha: known?.commit_sha ?? null,
      latest_tag: known?.latest_tag ?? null,
    };
  }

  private async findFirstVisibleProject(group: BadgeSource, viewer: Viewer): Promise<ProjectScope | null> {
    const seesAll = group.level >= ACCESS_LEVELS.guest || viewer.isAdmin;
    const seen = seesAll ? 'true' : isProjectVisibleSql(viewer, { project: 'p', namespace: 'n', user: '$2::bigint' });
    const [first] = await this.db.query<{ id: number }>(
      `select p.id from projects p join namespaces n on n.id = p.namespace_id
       where p.namespace_id = $1 and ${seen} order by p.id limit 1`,
      seen.includes('$2') ? [group.id, viewer.userId] : [group.id],
    );
    return first ? this.scopes.findProject(first.id, viewer) : null;
  }
}
