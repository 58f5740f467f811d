import type { ExactInput, Visibility } from '@rookery/kernel';
import {
  lengthProblems,
  splitIntoColumnsAndSettings,
  plainFieldLengthProblems,
  keepFieldsWithProblems,
  VISIBILITY_LEVELS,
} from '@rookery/kernel';
import { asProperties } from '@rookery/persistence';
import { projectNameProblems, projectPathProblems, TAKEN } from '../../namespaces/paths/path-rules';
import { PROJECT_FIELDS } from '../project-settings';
import type { Project } from '../project.entity';
import type {
  ProjectChange,
  ProjectSources,
  ProjectColumnsInput,
  RelatedFields,
  ProjectShapeInput,
} from './project-input';

/** Units: characters. */
const MAX_LENGTHS = { description: 2000, default_branch: 255 } as const;

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

/** Returns the problems of a project after a change, by field. Source: reference identity-and-import 2.10, 10.2. */
export function problemsOfProject(project: ProjectShape, home: HomeShape): Record<string, string[]> {
  const isAbove = home.kind === 'group' && VISIBILITY_LEVELS[project.visibility] > VISIBILITY_LEVELS[home.visibility];
  return keepFieldsWithProblems({
    name: projectNameProblems(project.name),
    path: projectPathProblems(project.path, home.full_path),
    visibility_level: isAbove ? [`${project.visibility} is not allowed in a ${home.visibility} group.`] : [],
  });
}

/** Returns the problems of texts that are too long, by field. */
export function projectTextLengthProblems(sent: ProjectColumnsInput): Record<string, string[]> {
  const tooLong = (field: keyof typeof MAX_LENGTHS): string[] => lengthProblems(sent[field] ?? '', MAX_LENGTHS[field]);
  return keepFieldsWithProblems({ description: tooLong('description'), default_branch: tooLong('default_branch') });
}

/** Returns the problems of sources, none of which is supported. Source: reference identity-and-import 10.2. */
function unsupportedProjectSourceProblems({ import_url, template_name }: ProjectSources): Record<string, string[]> {
  return keepFieldsWithProblems({
    import_url: import_url ? ['git import source is disabled'] : [],
    template_name: template_name ? [`'${template_name}' is unknown or invalid`] : [],
  });
}

export function takenProjectFieldProblems(name: boolean, path: boolean): Record<string, string[]> {
  return {
    ...(name ? { 'project_namespace.name': [TAKEN], name: [TAKEN] } : {}),
    ...(path ? { path: [TAKEN] } : {}),
  };
}

/** Sent fields of a project, grouped by the code that handles them. */
export interface ProjectParts {
  readonly shape: ProjectShapeInput;
  readonly related: RelatedFields;
  /** Columns and settings as they are stored. */
  readonly stored: Partial<Project>;
  /** Problems of texts and sources, by field. */
  readonly problems: Record<string, string[]>;
}

/**
 * Splits the sent fields into parts. Fields of no other part must be plain fields; otherwise the code does not compile.
 */
export function splitProjectChange<Sent extends ProjectChange>(
  viewer: { readonly isAdmin: boolean },
  sent: Sent & ExactInput<ProjectChange, Sent>,
): ProjectParts {
  const change: ProjectChange = sent;
  const { name, path, visibility, description, default_branch, topics, avatar, ...others } = change;
  const { import_url, template_name, ...plain } = others;
  const { columns, settings } = splitIntoColumnsAndSettings(PROJECT_FIELDS, plain, viewer);
  return {
    shape: { name, path, visibility },
    related: { topics, avatar },
    stored: {
      ...(description === undefined ? {} : { description }),
      ...(default_branch === undefined ? {} : { defaultBranch: default_branch }),
      ...asProperties(columns),
      settings,
    },
    problems: {
      ...projectTextLengthProblems({ description, default_branch }),
      ...plainFieldLengthProblems(PROJECT_FIELDS, plain),
      ...unsupportedProjectSourceProblems({ import_url, template_name }),
    },
  };
}
