import type { PresentContext } from '@rookery/api-v4';
import { PLANS, USER_STATES } from '@rookery/kernel';
import {
  bool,
  day,
  definePresenterFields,
  instant,
  int,
  list,
  alwaysNull,
  nullable,
  object,
  onlyWhen,
  presenter,
  text,
  choice,
} from '@rookery/api-v4';
import type { UserSummary, UserRow } from './user.entity';
import type { MembershipRow } from './memberships/user-memberships.queries';

function toAbsoluteUrl(url: string | null, ctx: PresentContext): string | null {
  return url?.startsWith('/') ? ctx.links.webUrl(url.slice(1)) : url;
}

/** Summary of a user inside another resource. Source: reference identity-and-import 10.1. */
export const userSummary = presenter<UserSummary>('UserSummary').fields({
  id: [int, (user) => user.id],
  username: [text, (user) => user.username],
  public_email: [nullable(text), (user) => user.public_email],
  name: [text, (user) => user.name],
  state: [choice(...USER_STATES), (user) => user.state],
  locked: [bool, () => false],
  avatar_url: [nullable(text), (user, _, ctx) => toAbsoluteUrl(user.avatar_url, ctx)],
  web_url: [text, (user, _, { links }) => links.webUrl(user.username)],
});

const profileTextField = (
  field:
    | 'bio'
    | 'location'
    | 'linkedin'
    | 'twitter'
    | 'discord'
    | 'website_url'
    | 'github'
    | 'organization'
    | 'job_title',
) => [nullable(text), (user: UserRow) => user.profile[field] ?? (field === 'location' ? null : '')] as const;

/**
 * Whether the viewer can see the profile. A private one shows creation time and followers only to the user and to
 * administrators.
 */
const showsProfile = (user: UserRow, _: undefined, { viewer }: PresentContext): boolean =>
  !user.private_profile || viewer.isAdmin || viewer.userId === user.id;

const publicFields = definePresenterFields<UserRow>()({
  created_at: [nullable(instant), (user) => user.created_at, { when: showsProfile }],
  bio: profileTextField('bio'),
  bot: [bool, (user) => user.kind === 'project_bot' || user.kind === 'service_account'],
  location: profileTextField('location'),
  linkedin: profileTextField('linkedin'),
  twitter: profileTextField('twitter'),
  discord: profileTextField('discord'),
  website_url: profileTextField('website_url'),
  github: profileTextField('github'),
  organization: profileTextField('organization'),
  job_title: profileTextField('job_title'),
  pronouns: [nullable(text), (user) => user.profile.pronouns ?? null],
  work_information: [nullable(text), (user) => workInformation(user)],
  // Following users is not supported; the counts are those of an instance without the feature.
  followers: [int, () => 0, { when: showsProfile }],
  following: [int, () => 0, { when: showsProfile }],
  is_followed: [
    bool,
    () => false,
    { when: (user, _, { viewer }) => viewer.userId !== null && viewer.userId !== user.id },
  ],
  local_time: [nullable(text), () => null],
});

const privateFields = definePresenterFields<UserRow>()({
  last_sign_in_at: [nullable(instant), (user) => user.last_sign_in_at],
  confirmed_at: [nullable(instant), (user) => user.confirmed_at],
  last_activity_on: [nullable(day), (user) => user.last_activity_on],
  email: [text, (user) => user.email],
  theme_id: [int, (user) => user.profile.theme_id ?? 1],
  color_scheme_id: [int, (user) => user.profile.color_scheme_id ?? 1],
  projects_limit: [int, (user) => user.projects_limit],
  current_sign_in_at: [nullable(instant), (user) => user.current_sign_in_at],
  identities: [
    list(object({ provider: text, extern_uid: text, saml_provider_id: alwaysNull })),
    (user) =>
      user.identities.map((one) => ({ provider: one.provider, extern_uid: one.extern_uid, saml_provider_id: null })),
  ],
  can_create_group: [bool, (user) => user.can_create_group],
  can_create_project: [bool, (user) => user.projects_limit > 0 && (user.admin || !user.external)],
  two_factor_enabled: [bool, () => false],
  external: [bool, (user) => user.external],
  private_profile: [bool, (user) => user.private_profile],
  commit_email: [text, (user) => user.commit_email ?? user.email],
  shared_runners_minutes_limit: [nullable(int), () => null],
  extra_shared_runners_minutes_limit: [nullable(int), () => null],
});

const administratorFields = definePresenterFields<UserRow>()({
  is_admin: [bool, (user) => user.admin],
  note: [nullable(text), (user) => user.note],
  namespace_id: [nullable(int), (user) => user.namespace_id],
  created_by: [nullable(userSummary.asField()), (user) => user.created_by],
  email_reset_offered_at: [nullable(instant), () => null],
  using_license_seat: [bool, (user) => user.kind === 'human' && user.state === 'active'],
  is_auditor: [bool, () => false],
  current_sign_in_ip: [nullable(text), () => null],
  last_sign_in_ip: [nullable(text), () => null],
  sign_in_count: [int, (user) => user.sign_in_count],
  plan: [nullable(choice<string>(...PLANS)), (user) => user.plan],
  trial: [bool, () => false],
});

const askedFields = definePresenterFields<UserRow>()({
  custom_attributes: [
    list(object({ key: text, value: text })),
    (user) => [...(user.custom_attributes ?? [])],
    { when: (user) => user.custom_attributes !== undefined },
  ],
});

function workInformation(user: UserRow): string | null {
  const { job_title: job, organization } = user.profile;
  if (job && organization) return `${job} at ${organization}`;
  return job || organization || null;
}

const isViewerAdministrator = (_: UserRow, { viewer }: PresentContext): boolean => viewer.isAdmin;

/** A user in a list: the summary, and all fields for administrators. */
export const userInList = userSummary
  .extend<UserRow>('UserInList')
  .fields(
    onlyWhen(isViewerAdministrator, { ...publicFields, ...privateFields, ...administratorFields, ...askedFields }),
  );

/** A user: the public fields, and all fields for administrators. */
export const userDetail = userSummary.extend<UserRow>('User').fields({
  ...publicFields,
  ...onlyWhen(isViewerAdministrator, { ...privateFields, ...administratorFields, ...askedFields }),
});

/** The caller: the private fields, and for administrators also those that they see of all users. */
export const currentUser = userSummary
  .extend<UserRow>('CurrentUser')
  .fields({ ...publicFields, ...privateFields, ...onlyWhen(isViewerAdministrator, administratorFields) });

/** Source: reference identity-and-import 10.1. */
export const userMembership = presenter<MembershipRow>('UserMembership').fields({
  source_id: [int, (row) => row.source_id],
  source_name: [text, (row) => row.source_name],
  source_type: [choice('Namespace', 'Project'), (row) => (row.source_type === 'project' ? 'Project' : 'Namespace')],
  access_level: [int, (row) => row.access_level],
});
