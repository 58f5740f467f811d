import type { Visibility } from '@rookery/kernel';
import type { AvatarChange } from '../avatars/avatars.service';

/** Where the content of a new project would come from, besides its first commit. Source: ADR 0118. */
export interface ProjectSources {
  readonly import_url?: string | null;
  readonly template_name?: string | null;
}

/** What is asked of a project's shape; plain settings may be sent along. Source: reference identity-and-import 10.2. */
export interface ProjectChange extends ProjectSources {
  readonly name?: string;
  readonly path?: string;
  readonly visibility?: Visibility;
  readonly description?: string | null;
  readonly emails_enabled?: boolean;
  readonly emails_disabled?: boolean;
  readonly topics?: readonly string[];
  readonly avatar?: AvatarChange;
}
export interface NewProject extends ProjectChange {
  readonly namespace_id?: number | null;
  readonly organization_id?: number | null;
  readonly initialize_with_readme?: boolean;
}

/** A project as far as it was resolved for the caller, with his level there. */
export interface KnownProject {
  readonly id: number;
  readonly level: number;
}
