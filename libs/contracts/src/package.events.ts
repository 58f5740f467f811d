import { defineEvent } from './event';
import { bool, choice, instant, int, nullable, object, text } from './schema';

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

const published = { package_id: int, project_id: int, package_type: text };

export const packagePublished = defineEvent(
  'package.package.published.v1',
  'The first file of a new package, or of a new version of one, was published.',
  object({ ...published, creator_id: nullable(int) }),
);
export const packageDeleted = defineEvent(
  'package.package.deleted.v1',
  'A package was deleted. The end of its project is announced by identity alone.',
  object(published),
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

const FINISHED = ['success', 'failed', 'canceled', 'skipped'] as const;

export const pipelineFinished = defineEvent(
  'package.pipeline.finished.v1',
  'All jobs of a pipeline ended, or a pipeline without jobs was canceled. A pipeline finishes again after a job was added or retried.',
  object({
    pipeline_id: int,
    project_id: int,
    iid: int,
    sha: text,
    ref: text,
    is_tag: bool,
    source: text,
    status: choice(...FINISHED),
    /** Last success or failure of the ref before, of an earlier pipeline or of this one before a retry; null for none. */
    previous_status: nullable(choice(...FINISHED)),
    user_id: nullable(int),
    finished_at: instant,
  }),
);

export const dependencyListExportFinished = defineEvent(
  'package.dependency_list_export.finished.v1',
  'The file of an export of dependencies was written. Exports that fail are not announced.',
  object({
    export_id: int,
    /** Null for an export of a group. */
    project_id: nullable(int),
    group_id: nullable(int),
    pipeline_id: nullable(int),
    author_id: int,
    export_type: text,
    /** The author asked for an e-mail. */
    send_email: bool,
  }),
);

export const pipelineChanged = defineEvent(
  'package.pipeline.changed.v1',
  'A pipeline was created, or its status changed. The event with the latest `updated_at` counts.',
  object({
    pipeline_id: int,
    project_id: int,
    iid: int,
    sha: text,
    ref: text,
    is_tag: bool,
    source: text,
    status: choice('created', 'pending', 'running', ...FINISHED),
    user_id: nullable(int),
    coverage: nullable(text),
    /** Seconds in which jobs ran. */
    duration: nullable(int),
    committed_at: nullable(instant),
    started_at: nullable(instant),
    finished_at: nullable(instant),
    created_at: instant,
    updated_at: instant,
  }),
);

export const pipelineDeleted = defineEvent(
  'package.pipeline.deleted.v1',
  'A pipeline was deleted. Pipelines of deleted projects are not announced.',
  object({ pipeline_id: int, project_id: int }),
);
