import type { Visibility } from '@rookery/kernel';
import { VISIBILITY_LEVELS } from '@rookery/kernel';
import {
  groupNameProblems,
  MAX_NESTING,
  problemsByField,
  subgroupPathProblems,
  TOO_DEEP,
  topLevelPathProblems,
} from '../paths/path-rules';

const MAX_DESCRIPTION = 500;
/** Plain settings that lists show or that could be any size. Units: characters. Source: ADR 0107. */
const MAX_TEXTS = { default_branch: 255, allowed_email_domains_list: 4096 } as const;
const MAX_USERNAME = 255;

interface GroupShape {
  readonly name: string;
  readonly path: string;
  readonly visibility: Visibility;
  readonly description?: string | null;
}
interface ParentShape {
  readonly full_path: string;
  readonly traversal_ids: readonly number[];
  readonly visibility: Visibility;
}

/** What is wrong with a group as it would be, by field. Source: reference identity-and-import 2.6, 2.10. */
export function problemsOfGroup(group: GroupShape, parent: ParentShape | null): Record<string, string[]> {
  const isTooDeep = parent !== null && parent.traversal_ids.length >= MAX_NESTING;
  const isAbove = parent !== null && VISIBILITY_LEVELS[group.visibility] > VISIBILITY_LEVELS[parent.visibility];
  const isLong = (group.description ?? '').length > MAX_DESCRIPTION;
  return problemsByField({
    name: groupNameProblems(group.name),
    path: parent ? subgroupPathProblems(group.path, parent.full_path) : topLevelPathProblems(group.path),
    description: isLong ? [`is too long (maximum is ${MAX_DESCRIPTION} characters)`] : [],
    visibility_level: isAbove
      ? [`${group.visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`]
      : [],
    parent_id: isTooDeep ? [TOO_DEEP] : [],
  });
}

/** Settings as they may be sent whose length matters. */
export interface TextSettings {
  readonly default_branch?: string | null;
  readonly allowed_email_domains_list?: string | null;
  readonly unique_project_download_limit_allowlist?: readonly string[];
}

/** Settings that are too long, by field. */
export function problemsOfTexts(sent: TextSettings): Record<string, string[]> {
  const problems: Record<string, string[]> = {};
  for (const field of ['default_branch', 'allowed_email_domains_list'] as const) {
    const max = MAX_TEXTS[field];
    if ((sent[field] ?? '').length > max) problems[field] = [`is too long (maximum is ${max} characters)`];
  }
  if (sent.unique_project_download_limit_allowlist?.some((name) => name.length > MAX_USERNAME)) {
    problems['unique_project_download_limit_allowlist'] = ['is invalid'];
  }
  return problems;
}

/** Why a group may not become less visible than what it holds. */
export function problemsOfLowering(
  visibility: Visibility,
  holds: { readonly project: number; readonly subgroup: number },
): string[] {
  const own = VISIBILITY_LEVELS[visibility];
  return [
    ...(holds.project > own
      ? [`${visibility} is not allowed since this group contains projects with higher visibility.`]
      : []),
    ...(holds.subgroup > own
      ? [`${visibility} is not allowed since there are sub-groups with higher visibility.`]
      : []),
  ];
}

/** Field problems in the notation that clients of group creation know: `{:path=>["has already been taken"]}`. */
export function inspected(problems: Readonly<Record<string, readonly string[]>>): string {
  const entries = Object.entries(problems).map(
    ([field, texts]) => `:${field}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`,
  );
  return `{${entries.join(', ')}}`;
}
