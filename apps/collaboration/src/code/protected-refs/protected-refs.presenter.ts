import { alwaysNull, bool, int, list, object, presenter, text } from '@rookery/api-v4';
import { LEVEL_TEXTS, levelId } from './access-levels';
import type { RuleAction, RuleLevel } from './access-levels';
import type { ProtectedBranch } from './protected-branch.entity';
import type { ProtectedTag } from './protected-tag.entity';

const accessLevel = object<{
  id: number;
  access_level: number;
  access_level_description: string;
  deploy_key_id: null;
  user_id: null;
  group_id: null;
}>({
  id: int,
  access_level: int,
  access_level_description: text,
  deploy_key_id: alwaysNull,
  user_id: alwaysNull,
  group_id: alwaysNull,
});

/** Source: reference repositories 6.2. */
export const protectedBranchPresenter = presenter<ProtectedBranch>('ProtectedBranch').fields({
  id: [int, (rule) => rule.id],
  name: [text, (rule) => rule.name, { about: 'Name of the branches. `*` stands for any characters.' }],
  push_access_levels: [
    list(accessLevel),
    (rule) => presentRuleAccessLevels(rule.id, 'push', rule.pushLevels),
    { about: 'Callers who may push.' },
  ],
  merge_access_levels: [
    list(accessLevel),
    (rule) => presentRuleAccessLevels(rule.id, 'merge', rule.mergeLevels),
    { about: 'Callers who may merge.' },
  ],
  allow_force_push: [bool, (rule) => rule.allowForcePush, { about: 'Pushes may replace commits of the branches.' }],
  unprotect_access_levels: [
    list(accessLevel),
    (rule) => presentRuleAccessLevels(rule.id, 'unprotect', rule.unprotectLevels),
    { about: 'Callers who may change or remove the rule.' },
  ],
  code_owner_approval_required: [bool, () => false, { about: 'Always false: code owners are not supported.' }],
  inherited: [bool, () => false, { about: 'Always false: groups have no rules for branches.' }],
});

/** Source: reference repositories 6.3. */
export const protectedTagPresenter = presenter<ProtectedTag>('ProtectedTag').fields({
  name: [text, (rule) => rule.name, { about: 'Name of the tags. `*` stands for any characters.' }],
  create_access_levels: [
    list(accessLevel),
    (rule) => presentRuleAccessLevels(rule.id, 'create', rule.createLevels),
    { about: 'Callers who may create the tags.' },
  ],
});

function presentRuleAccessLevels(ruleId: number, action: RuleAction, levels: readonly number[]) {
  return levels.map((level) => ({
    id: levelId(ruleId, action, level),
    access_level: level,
    access_level_description: LEVEL_TEXTS[level as RuleLevel],
    ...{ deploy_key_id: null, user_id: null, group_id: null },
  }));
}
