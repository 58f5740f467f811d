import { choice, int, nullable, presenter, text } from '@rookery/api-v4';
import { InstanceSettings } from '@rookery/instance';
import { PROTECTED_PACKAGE_TYPES } from './package-name-pattern';
import type { ProtectionRule } from './protection-rule.entity';
import { DELETE_LEVELS, PUSH_LEVELS } from './protection-rule.entity';

/** Source: requirements 3 §2 Package protection rule. The delete level is null while its feature is off. */
export const protectionRulePresenter = presenter<ProtectionRule>('PackageProtectionRule')
  .load((_rules, ctx) => ({ instance: ctx.get(InstanceSettings), viewer: ctx.viewer }))
  .fields({
    id: [int, (rule) => rule.id],
    project_id: [int, (rule) => rule.projectId],
    package_name_pattern: [text, (rule) => rule.packageNamePattern],
    package_type: [choice(...PROTECTED_PACKAGE_TYPES), (rule) => rule.packageType],
    minimum_access_level_for_delete: [
      nullable(choice(...DELETE_LEVELS)),
      (rule, { instance, viewer }) =>
        instance.isOn('packages_protected_packages_delete', { viewer, projectId: rule.projectId })
          ? rule.deleteLevel
          : null,
    ],
    minimum_access_level_for_push: [nullable(choice(...PUSH_LEVELS)), (rule) => rule.pushLevel],
  });
