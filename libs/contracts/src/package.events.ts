import { defineEvent } from './event';
import { int, object, text } from './schema';

const rule = { rule_id: int, project_id: int, package_type: text };

export const protectionRuleCreated = defineEvent(
  'package.protection_rule.created.v1',
  'A package protection rule came into force.',
  object(rule),
);
export const protectionRuleUpdated = defineEvent(
  'package.protection_rule.updated.v1',
  'A package protection rule changed.',
  object(rule),
);
export const protectionRuleDeleted = defineEvent(
  'package.protection_rule.deleted.v1',
  'A package protection rule ended.',
  object(rule),
);
