import type { Visibility } from '@rookery/kernel';
import { VISIBILITY_LEVELS } from '@rookery/kernel';
import { problemsByField, projectNameProblems, projectPathProblems, TAKEN } from '../paths/path-rules';
import { settingsFrom, withoutSwitches } from './project-settings';
import type { Project } from './project.entity';
import type { ProjectChange } from './project-input';

const MAX_DESCRIPTION = 2000;

interface ProjectShape {
  readonly name: string;
  readonly path: string;
  readonly visibility: Visibility;
  readonly description?: string | null;
}
interface HomeShape {
  readonly kind: 'group' | 'user';
  readonly full_path: string;
  readonly visibility: Visibility;
}

/** What is wrong with a project as it would be, by field. Source: reference identity-and-import 2.10, 10.2. */
export function problemsOfProject(project: ProjectShape, home: HomeShape): Record<string, string[]> {
  const isAbove = home.kind === 'group' && VISIBILITY_LEVELS[project.visibility] > VISIBILITY_LEVELS[home.visibility];
  const isLong = (project.description ?? '').length > MAX_DESCRIPTION;
  return problemsByField({
    name: projectNameProblems(project.name),
    path: projectPathProblems(project.path, home.full_path),
    description: isLong ? [`is too long (maximum is ${MAX_DESCRIPTION} characters)`] : [],
    visibility_level: isAbove ? [`${project.visibility} is not allowed in a ${home.visibility} group.`] : [],
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
