import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../../avatars/avatars.service';
import type { PlainProjectInput } from '../project-settings';

/** Sources for the contents of a new project, except its first commit. Source: reference identity-and-import 10.2. */
export interface ProjectSources {
  readonly import_url?: string | null | undefined;
  readonly template_name?: string | null | undefined;
}
/** Fields that are stored outside of the project's row. */
export interface RelatedFields {
  readonly topics?: readonly string[] | undefined;
  readonly avatar?: AvatarChange | undefined;
}
/** Columns that queries use too. */
export interface ProjectColumnsInput {
  readonly description?: string | null | undefined;
  readonly default_branch?: string | undefined;
}
/** Fields that are validated together with the location of the project. */
export interface ProjectShapeInput {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly visibility?: Visibility | undefined;
}

/** Fields for updating a project. Source: reference identity-and-import 10.2. */
export interface ProjectChange
  extends ProjectShapeInput, ProjectColumnsInput, RelatedFields, ProjectSources, PlainProjectInput {}
export interface NewProject extends ProjectChange {
  readonly namespace_id?: number | null;
  readonly organization_id?: number | null;
  readonly initialize_with_readme?: boolean;
}

/** A resolved project with the caller's access level. */
export interface ProjectWithLevel {
  readonly id: number;
  readonly level: number;
}
