import { bool, day, instant, int, nullable, presenter, definePresenterFields, text, choice } from '@rookery/api-v4';
import { PLANS } from '@rookery/kernel';
import { absoluteUrl } from '@rookery/directory';
import type { GroupReference, NamespaceRow } from './namespace-row';

type FieldCondition = { readonly when: (namespace: NamespaceRow) => boolean };
const onlyAdministered: FieldCondition = { when: (one) => one.is_administered };
const onlyAdministeredGroups: FieldCondition = { when: (one) => one.is_administered && one.kind === 'group' };
const onlyAdministeredRoots: FieldCondition = { when: (one) => one.is_administered && one.parent_id === null };
const onlyAdministeredRootGroups: FieldCondition = {
  when: (one) => onlyAdministeredGroups.when(one) && onlyAdministeredRoots.when(one),
};

/** Fields of a group that is referenced as a location. Source: reference identity-and-import 2.6, 10.2. */
export const groupReference = definePresenterFields<GroupReference>()({
  id: [int, (group) => group.id],
  web_url: [text, (group, _, { links }) => links.webUrl(`groups/${group.full_path}`)],
  name: [text, (group) => group.name],
  avatar_url: [nullable(text), (group, _, { links }) => absoluteUrl(group.avatar_url, links)],
  full_name: [text, (group) => group.full_name],
  full_path: [text, (group) => group.full_path],
});

/** Source: requirements 2 §2 Namespace; reference identity-and-import 3. */
export const namespace = presenter<NamespaceRow>('Namespace').fields({
  id: [int, (one) => one.id],
  name: [text, (one) => one.name],
  path: [text, (one) => one.path],
  kind: [choice('group', 'user'), (one) => one.kind],
  full_path: [text, (one) => one.full_path],
  parent_id: [nullable(int), (one) => one.parent_id],
  avatar_url: [nullable(text), (one, _, { links }) => absoluteUrl(one.avatar_url, links)],
  web_url: [
    text,
    (one, _, { links }) => links.webUrl(one.kind === 'group' ? `groups/${one.full_path}` : one.full_path),
  ],
  members_count_with_descendants: [nullable(int), (one) => one.members_count_with_descendants, onlyAdministeredGroups],
  root_repository_size: [nullable(int), (one) => one.root_repository_size, onlyAdministered],
  projects_count: [nullable(int), (one) => one.projects_count, onlyAdministered],
  shared_runners_minutes_limit: [
    nullable(int),
    (one) => one.settings.shared_runners_minutes_limit ?? null,
    onlyAdministered,
  ],
  extra_shared_runners_minutes_limit: [
    nullable(int),
    (one) => one.settings.extra_shared_runners_minutes_limit ?? null,
    onlyAdministered,
  ],
  // Storage, trials and subscriptions are not sold here, so these are constant.
  additional_purchased_storage_size: [int, () => 0, onlyAdministered],
  additional_purchased_storage_ends_on: [nullable(day), () => null, onlyAdministered],
  billable_members_count: [nullable(int), (one) => one.seats, onlyAdministered],
  seats_in_use: [nullable(int), (one) => one.seats, onlyAdministeredRootGroups],
  max_seats_used: [nullable(int), (one) => one.max_seats_used, onlyAdministeredRootGroups],
  max_seats_used_changed_at: [nullable(instant), (one) => one.max_seats_used_changed_at, onlyAdministeredRootGroups],
  plan: [choice<string>(...PLANS), (one) => one.plan, onlyAdministeredRoots],
  end_date: [nullable(day), () => null, onlyAdministeredRoots],
  trial: [bool, () => false, onlyAdministeredRoots],
  trial_ends_on: [nullable(day), () => null, onlyAdministeredRoots],
});
