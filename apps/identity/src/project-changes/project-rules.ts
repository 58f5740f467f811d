import type { Visibility } from '@rookery/kernel';
import { VISIBILITY_LEVELS } from '@rookery/kernel';
import { problemsByField, projectNameProblems, projectPathProblems, TAKEN } from '../paths/path-rules';
import { settingsFrom, withoutSwitches } from '../projects/project-settings';
import type { Project } from '../projects/project.entity';
import type { ProjectChange, ProjectSources } from './project-input';

/** Units: characters. */
const MAX_LENGTHS: Readonly<Record<string, number>> = {
  description: 2000,
  default_branch: 255,
  ci_config_path: 255,
  suggestion_commit_message: 255,
  issue_branch_template: 255,
  merge_commit_template: 500,
  squash_commit_template: 500,
};

interface ProjectShape {
  readonly name: string;
  readonly path: string;
  readonly visibility: Visibility;
}
interface HomeShape {
  readonly kind: 'group' | 'user';
  readonly full_path: string;
  readonly visibility: Visibility;
}

/** What is wrong with a project as it would be, by field. Source: reference identity-and-import 2.10, 10.2. */
export function problemsOfProject(project: ProjectShape, home: HomeShape): Record<string, string[]> {
  const isAbove = home.kind === 'group' && VISIBILITY_LEVELS[project.visibility] > VISIBILITY_LEVELS[home.visibility];
  return problemsByField({
    name: projectNameProblems(project.name),
    path: projectPathProblems(project.path, home.full_path),
    visibility_level: isAbove ? [`${project.visibility} is not allowed in a ${home.visibility} group.`] : [],
  });
}

/** Texts that are longer than they may be, and what cannot be had here. Source: ADR 0118. */
export function problemsOfFields(sent: ProjectChange & ProjectSources): Record<string, string[]> {
  const texts = sent as Readonly<Record<string, unknown>>;
  const long = Object.entries(MAX_LENGTHS).map(([field, most]) => {
    const text = texts[field];
    const isLong = typeof text === 'string' && [...text].length > most;
    return [field, isLong ? [`is too long (maximum is ${most} characters)`] : []] as const;
  });
  return problemsByField({
    ...Object.fromEntries(long),
    import_url: sent.import_url ? ['git import source is disabled'] : [],
    template_name: sent.template_name ? [`'${sent.template_name}' is unknown or invalid`] : [],
  });
}

export function takenProblems(name: boolean, path: boolean): Record<string, string[]> {
  return {
    ...(name ? { 'project_namespace.name': [TAKEN], name: [TAKEN] } : {}),
    ...(path ? { path: [TAKEN] } : {}),
  };
}

const COLUMNS = [
  'description',
  'default_branch',
  'issues_access_level',
  'snippets_access_level',
  'merge_requests_access_level',
  'packages_enabled',
] as const;

/** Columns and settings among the sent fields; name, path and visibility have rules of their own. */
export function columnsOf(params: ProjectChange): Partial<Project> {
  const sent = withoutSwitches(params as Readonly<Record<string, unknown>>);
  const emails = params.emails_enabled ?? (params.emails_disabled === undefined ? undefined : !params.emails_disabled);
  return {
    ...Object.fromEntries(COLUMNS.filter((name) => sent[name] !== undefined).map((name) => [name, sent[name]])),
    ...(emails === undefined ? {} : { emails_enabled: emails }),
    settings: settingsFrom(sent),
  };
}
