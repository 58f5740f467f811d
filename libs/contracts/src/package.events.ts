import { defineEvent } from './event';
import { instant, int, object, text } from './schema';

const rule = { rule_id: int, project_id: int, package_type: text };

export const protectionRuleCreated = defineEvent(
  'package.protection_rule.created.v1',
  'A package protection rule was created.',
  object(rule),
);
export const protectionRuleUpdated = defineEvent(
  'package.protection_rule.updated.v1',
  'A package protection rule changed.',
  object(rule),
);
export const protectionRuleDeleted = defineEvent(
  'package.protection_rule.deleted.v1',
  'A package protection rule was deleted.',
  object(rule),
);

export const packageStorageMeasured = defineEvent(
  'package.project_storage.measured.v1',
  'The storage used by packages, job and pipeline artifacts and images of a project was measured, in bytes. Whole values; the newest measurement counts.',
  object({
    project_id: int,
    packages_size: int,
    job_artifacts_size: int,
    pipeline_artifacts_size: int,
    container_registry_size: int,
    measured_at: instant,
  }),
);
