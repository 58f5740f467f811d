import { ACCESS_LEVELS, Unprocessable } from '@rookery/kernel';
import type { Viewer } from '@rookery/kernel';

/**
 * Levels that a rule may name: no user, developers, maintainers, administrators of the instance. Each includes the
 * higher ones; level 0 excludes administrators too. Source: reference repositories 6.1.
 */
export const RULE_LEVELS = [0, 30, 40, 60] as const;
/** Levels that may remove a rule. */
export const UNPROTECT_LEVELS = [30, 40, 60] as const;
export type RuleLevel = (typeof RULE_LEVELS)[number];

export const LEVEL_TEXTS: Readonly<Record<RuleLevel, string>> = {
  0: 'No one',
  30: 'Developers + Maintainers',
  40: 'Maintainers',
  60: 'Instance admins',
};

/** A rule without levels of its own is for maintainers. */
export const DEFAULT_LEVEL: RuleLevel = 40;

/** The caller of a request with the level in the project. */
export interface RuleCaller {
  /** `job` is set for the token of a job. */
  readonly viewer: Pick<Viewer, 'isAdmin' | 'userId' | 'job'>;
  readonly project: { readonly id: number; readonly level: number };
}

/** Whether one of the levels includes the caller. */
export function includesCaller(levels: readonly number[], { viewer, project }: RuleCaller): boolean {
  return levels.some((level) => {
    if (level === RULE_LEVELS[0]) return false;
    return viewer.isAdmin || (level < 60 && project.level >= level);
  });
}

export function isMaintainer({ viewer, project }: RuleCaller): boolean {
  return viewer.isAdmin || project.level >= ACCESS_LEVELS.maintainer;
}

export function isDeveloper({ viewer, project }: RuleCaller): boolean {
  return viewer.isAdmin || project.level >= ACCESS_LEVELS.developer;
}

/** Action that a rule restricts. */
export type RuleAction = 'push' | 'merge' | 'unprotect' | 'create';

const ACTION_NUMBERS: Readonly<Record<RuleAction, number>> = { push: 100, merge: 200, unprotect: 300, create: 400 };
const IDS_OF_A_RULE = 1000;

/** Id of one level of a rule. It names rule, action and level, which identify a level, so that it needs no row. */
export function levelId(ruleId: number, action: RuleAction, level: number): number {
  return ruleId * IDS_OF_A_RULE + ACTION_NUMBERS[action] + level;
}

/** Change of one access level of an action such as push, as clients send it. `_destroy` removes the level. */
export interface LevelChange {
  readonly id?: number | null;
  readonly access_level?: RuleLevel | null;
  readonly user_id?: number | null;
  readonly group_id?: number | null;
  readonly deploy_key_id?: number | null;
  readonly _destroy?: boolean;
}

/**
 * Applies changes to the access levels of one action. `idOf` returns the id of a level; null for a rule that is new.
 * Errors: Unprocessable for users, groups, deploy keys, and for an unknown id.
 */
export function applyAccessLevelChanges(
  levels: readonly number[],
  changes: readonly LevelChange[],
  idOf: ((level: number) => number) | null,
): number[] {
  const result = new Set(levels);
  for (const { id, access_level: level, _destroy: isRemoval, ...others } of changes) {
    if (Object.values(others).some((value) => value !== null && value !== undefined))
      throw new Unprocessable('Rules for single users, groups and deploy keys are not supported');
    const known = id === undefined || id === null ? null : levels.find((one) => idOf?.(one) === id);
    if (known === undefined) throw new Unprocessable('The rule has no access level with this id');
    if (known !== null) result.delete(known);
    if (isRemoval) continue;
    const wanted = level ?? known;
    if (wanted === null) throw new Unprocessable('An access level is needed');
    result.add(wanted);
  }
  return [...result].sort((a, b) => a - b);
}

/**
 * Levels of a new rule: a single level, a list of levels, both, or those for maintainers.
 * Errors: Unprocessable as `applyAccessLevelChanges`.
 */
export function accessLevelsOfNewRule(
  single: RuleLevel | null | undefined,
  list: readonly LevelChange[] | undefined,
): number[] {
  const levels = applyAccessLevelChanges(single === null || single === undefined ? [] : [single], list ?? [], null);
  return levels.length === 0 ? [DEFAULT_LEVEL] : levels;
}
