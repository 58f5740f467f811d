import { AtLeastOneOf, Int, OneOf, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { ProtectedPackageType } from './package-name-pattern';
import { PROTECTED_PACKAGE_TYPES } from './package-name-pattern';
import type { DeleteLevel, ProtectionRuleInput, PushLevel } from './protection-rule.entity';
import { DELETE_LEVELS, PUSH_LEVELS } from './protection-rule.entity';

/** Source: requirements 3 §4 Package protection rules; reference packages-and-admin 5. */
@AtLeastOneOf('minimum_access_level_for_push', 'minimum_access_level_for_delete')
export class CreateProtectionRule implements ExactInput<ProtectionRuleInput, CreateProtectionRule> {
  @Text({ about: '`*` matches any run of characters.' }) package_name_pattern: string;
  @OneOf(PROTECTED_PACKAGE_TYPES) package_type: ProtectedPackageType;
  @OneOf(PUSH_LEVELS, { optional: true, nullable: true }) minimum_access_level_for_push?: PushLevel | null;
  @OneOf(DELETE_LEVELS, { optional: true, nullable: true }) minimum_access_level_for_delete?: DeleteLevel | null;
}

export class IdentifyProtectionRule {
  @Int() package_protection_rule_id: number;
}

export class UpdateProtectionRule
  extends IdentifyProtectionRule
  implements ExactInput<ProtectionRuleInput, UpdateProtectionRule, keyof IdentifyProtectionRule>
{
  @Text({ optional: true }) package_name_pattern?: string;
  @OneOf(PROTECTED_PACKAGE_TYPES, { optional: true }) package_type?: ProtectedPackageType;
  @OneOf(PUSH_LEVELS, { optional: true, nullable: true }) minimum_access_level_for_push?: PushLevel | null;
  @OneOf(DELETE_LEVELS, { optional: true, nullable: true }) minimum_access_level_for_delete?: DeleteLevel | null;
}
