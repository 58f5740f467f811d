import { plainFieldDefaults } from '@rookery/kernel';
import { FEATURE_FIELDS, PROJECT_FIELDS } from '../project-settings';
import type { ProjectSettings } from '../project-settings';
import type { Project, ProjectRecord } from '../project.entity';

const DEFAULTS = plainFieldDefaults(PROJECT_FIELDS);

/** Returns a setting, or its default when it is not stored. */
export function readProjectSettingOrDefault<K extends keyof ProjectSettings>(
  project: ProjectRecord,
  name: K,
): ProjectSettings[K] {
  return project.settings[name] ?? DEFAULTS[name];
}

const SETTINGS = [...FEATURE_FIELDS, 'shared_runners_enabled', 'lfs_enabled', 'ci_config_path'] as const;

/** Returns the columns that a new fork copies from its source: feature levels and build settings. */
export function forkedColumns(source: ProjectRecord): Partial<Project> {
  const stored = Object.entries(source.settings).filter(([name]) => SETTINGS.some((setting) => setting === name));
  return {
    issuesAccessLevel: source.issues_access_level,
    snippetsAccessLevel: source.snippets_access_level,
    mergeRequestsAccessLevel: source.merge_requests_access_level,
    packagesEnabled: source.packages_enabled,
    defaultBranch: source.default_branch,
    settings: Object.fromEntries(stored),
  };
}
