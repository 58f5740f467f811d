import type { ExactInput, Visibility } from '@rookery/kernel';
import {
  lengthProblems,
  splitIntoColumnsAndSettings,
  plainFieldLengthProblems,
  keepFieldsWithProblems,
  VISIBILITY_LEVELS,
} from '@rookery/kernel';
import { asProperties } from '@rookery/persistence';
import type { AvatarChange } from '../avatars/avatars.service';
import type { Namespace } from '../namespaces/namespace.entity';
import {
  groupNameProblems,
  MAX_NESTING,
  subgroupPathProblems,
  TOO_DEEP,
  topLevelPathProblems,
} from '../namespaces/paths/path-rules';
import { GROUP_FIELDS, normalizeGroupSettings } from '../namespaces/settings/group-settings';
import type { GroupSettings } from '../namespaces/settings/group-settings';
import type { GroupChange, GroupShapeInput } from './group-input';

const MAX_DESCRIPTION = 500;
const MAX_USERNAME = 255;

interface GroupShape {
  readonly name: string;
  readonly path: string;
  readonly visibility: Visibility;
  readonly description?: string | null | undefined;
}
interface ParentShape {
  readonly full_path: string;
  readonly traversal_ids: readonly number[];
  readonly visibility: Visibility;
}

/** Returns the problems of a group after a change, by field. Source: reference identity-and-import 2.6, 2.10. */
export function problemsOfGroup(group: GroupShape, parent: ParentShape | null): Record<string, string[]> {
  const isTooDeep = parent !== null && parent.traversal_ids.length >= MAX_NESTING;
  const isAbove = parent !== null && VISIBILITY_LEVELS[group.visibility] > VISIBILITY_LEVELS[parent.visibility];
  return keepFieldsWithProblems({
    name: groupNameProblems(group.name),
    path: parent ? subgroupPathProblems(group.path, parent.full_path) : topLevelPathProblems(group.path),
    description: lengthProblems(group.description ?? '', MAX_DESCRIPTION),
    visibility_level: isAbove
      ? [`${group.visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`]
      : [],
    parent_id: isTooDeep ? [TOO_DEEP] : [],
  });
}

/** Sent fields of a group, grouped by the code that handles them. */
export interface GroupParts {
  readonly shape: GroupShapeInput;
  readonly avatar: AvatarChange | undefined;
  /** Columns and settings as they are stored. */
  readonly stored: Partial<Namespace> & { readonly settings: Partial<GroupSettings> };
  /** Problems of settings, by field. Source: reference identity-and-import 2.6. */
  readonly problems: Record<string, string[]>;
}

/**
 * Splits the sent fields into the parts of `GroupParts`. A field without a rule of its own must be in `GROUP_FIELDS`;
 * otherwise the code does not compile. Some fields are only for administrators.
 */
export function splitGroupChange<Sent extends GroupChange>(
  viewer: { readonly isAdmin: boolean },
  sent: Sent & ExactInput<GroupChange, Sent>,
): GroupParts {
  const change: GroupChange = sent;
  const { name, path, visibility, description, avatar, ip_restriction_ranges: ranges, ...plain } = change;
  const { columns, settings } = splitIntoColumnsAndSettings(GROUP_FIELDS, plain, viewer);
  const names = plain.unique_project_download_limit_allowlist ?? [];
  return {
    shape: { name, path, visibility, description },
    avatar,
    stored: {
      ...(description === undefined ? {} : { description: description ?? '' }),
      ...asProperties(columns),
      settings: normalizeGroupSettings(settings),
    },
    problems: {
      ...plainFieldLengthProblems(GROUP_FIELDS, plain),
      ...(names.some((username) => username.length > MAX_USERNAME)
        ? { unique_project_download_limit_allowlist: ['is invalid'] }
        : {}),
      // IP restrictions are not enforced, so setting them must not seem to succeed.
      ...(ranges?.trim() ? { ip_restriction_ranges: ['is not supported'] } : {}),
    },
  };
}

/** Returns the problems of lowering a group's visibility below that of its contents. */
export function groupVisibilityLoweringProblems(
  visibility: Visibility,
  highestContentVisibility: { readonly project: number; readonly subgroup: number },
): string[] {
  const own = VISIBILITY_LEVELS[visibility];
  return [
    ...(highestContentVisibility.project > own
      ? [`${visibility} is not allowed since this group contains projects with higher visibility.`]
      : []),
    ...(highestContentVisibility.subgroup > own
      ? [`${visibility} is not allowed since there are sub-groups with higher visibility.`]
      : []),
  ];
}
