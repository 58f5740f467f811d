import type { DirectoryMembership, DirectoryNamespace, DirectoryProject, DirectoryUser } from '@rookery/contracts';
import type { Viewer } from '@rookery/kernel';

const INSTANT = '2026-01-05T09:00:00.000Z';

export function user(id: number, over: Partial<DirectoryUser> = {}): DirectoryUser {
  return {
    id,
    username: `user${id}`,
    name: `User ${id}`,
    state: 'active',
    kind: 'human',
    admin: false,
    external: false,
    private_profile: false,
    avatar_url: null,
    public_email: null,
    notification_email: null,
    bot_group_id: null,
    bot_project_id: null,
    created_at: INSTANT,
    ...over,
  };
}

export function group(id: number, over: Partial<DirectoryNamespace> = {}): DirectoryNamespace {
  return {
    id,
    kind: 'group',
    owner_id: null,
    parent_id: null,
    traversal_ids: [id],
    name: `Group ${id}`,
    path: `group${id}`,
    full_name: `Group ${id}`,
    full_path: `group${id}`,
    visibility: 'private',
    avatar_url: null,
    emails_enabled: true,
    mentions_disabled: null,
    plan: 'ultimate',
    archived: false,
    default_branch_protection: null,
    created_at: INSTANT,
    ...over,
  };
}

export function project(id: number, namespaceId: number, over: Partial<DirectoryProject> = {}): DirectoryProject {
  return {
    id,
    namespace_id: namespaceId,
    creator_id: null,
    name: `Project ${id}`,
    path: `project${id}`,
    description: null,
    visibility: 'private',
    archived: false,
    issues_access_level: 'enabled',
    snippets_access_level: 'enabled',
    merge_requests_access_level: 'enabled',
    repository_access_level: null,
    feature_flags_access_level: null,
    merge_settings: null,
    fork: null,
    job_admission: null,
    initialize_with_readme: false,
    packages_enabled: true,
    emails_enabled: true,
    default_branch: null,
    avatar_url: null,
    created_at: INSTANT,
    ...over,
  };
}

export function membership(
  id: number,
  userId: number,
  source: readonly ['namespace' | 'project', number],
  level: number,
): DirectoryMembership {
  return { id, user_id: userId, source_type: source[0], source_id: source[1], access_level: level, expires_on: null };
}

/** A request of this user that must see everything up to `version`. */
export function viewer(
  userId: number | null,
  version: number,
  over: Partial<Viewer> & { epoch?: string } = {},
): Viewer {
  const { epoch = 'first', ...rest } = over;
  return {
    userId,
    username: userId === null ? null : `user${userId}`,
    isAdmin: false,
    isExternal: false,
    isBot: false,
    tokenId: null,
    scopes: ['api'],
    impersonatorId: null,
    isBySudo: false,
    creatorId: null,
    address: null,
    directory: { version, epoch },
    requestId: 'request',
    deadline: Date.now() + 30_000,
    ...rest,
  };
}
