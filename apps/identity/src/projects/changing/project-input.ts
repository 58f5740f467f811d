import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../../avatars/avatars.service';
import type { PlainProjectInput } from '../project-settings';

/**
 * Where the content of a new project would come from, besides its first commit.
 * Source: reference identity-and-import 10.2.
 */
export interface ProjectSources {
  readonly import_url?: string | null | undefined;
  readonly template_name?: string | null | undefined;
}
/** What is kept beside a project. */
export interface SentBeside {
  readonly topics?: readonly string[] | undefined;
  readonly avatar?: AvatarChange | undefined;
}
/** Columns that queries ask for too. */
export interface SentColumns {
  readonly description?: string | null | undefined;
  readonly default_branch?: string | undefined;
}
/** What is judged together with the place of a project. */
export interface SentShape {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly visibility?: Visibility | undefined;
}

/** What is asked of a project. Source: reference identity-and-import 10.2. */
export interface ProjectChange extends SentShape, SentColumns, SentBeside, ProjectSources, PlainProjectInput {}
export interface NewProject extends ProjectChange {
  readonly namespace_id?: number | null;
  readonly organization_id?: number | null;
  readonly initialize_with_readme?: boolean;
}

/** A project as far as it was resolved for the caller, with their level there. */
export interface KnownProject {
  readonly id: number;
  readonly level: number;
}
