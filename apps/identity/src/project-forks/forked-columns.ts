import { FEATURES, PROJECT_DEFAULTS } from '../projects/project-settings';
import type { ProjectSettings } from '../projects/project-settings';
import type { Project } from '../projects/project.entity';

/** A setting as it holds, stored or not. */
export function settingOf<K extends keyof ProjectSettings>(project: Project, name: K): ProjectSettings[K] {
  return (project.settings as ProjectSettings)[name] ?? PROJECT_DEFAULTS[name];
}

const SETTINGS: readonly (keyof ProjectSettings)[] = [
  ...FEATURES.map((feature) => `${feature}_access_level` as const),
  'shared_runners_enabled',
  'lfs_enabled',
  'ci_config_path',
];

/** What a fork has in common with its source from the beginning: who may use which feature, and how it is built. */
export function forkedColumns(source: Project): Partial<Project> {
  const { issues_access_level, snippets_access_level, merge_requests_access_level } = source;
  const stored = SETTINGS.filter((name) => name in source.settings).map((name) => [name, source.settings[name]]);
  return {
    issues_access_level,
    snippets_access_level,
    merge_requests_access_level,
    packages_enabled: source.packages_enabled,
    default_branch: source.default_branch,
    settings: Object.fromEntries(stored) as Partial<ProjectSettings>,
  };
}
