import type { UploadedFile } from '@rookery/api-v4';
import { AtLeastOneOf, Flag, IdOrPath, Int, ListOf, OneOf, Text, withPlainFields } from '@rookery/api-v4';
import type { ExactInput, Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { AvatarUploadField } from '../../avatars/avatars.dto';
import { PROJECT_FIELDS } from '../project-settings';
import type { NewProject, ProjectChange } from './project-input';

class ProjectBasicFields {
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) path?: string;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
  @Text({ optional: true }) default_branch?: string;
  @ListOf('text', { optional: true, alias: 'tag_list', about: 'Names of topics. Missing topics are created.' })
  topics?: string[];
  @AvatarUploadField() avatar?: UploadedFile | null;
  @Text({
    optional: true,
    nullable: true,
    about: 'URL of a git repository to import, which may hold a user name and a password. Refused on update.',
  })
  import_url?: string | null;
  @Text({ optional: true, nullable: true, about: 'Refused: there are no templates.' }) template_name?: string | null;
}

/** Parameters that creation and update share. */
class ProjectFields extends withPlainFields(ProjectBasicFields, PROJECT_FIELDS, { when: 'always' }) {}

@AtLeastOneOf('name', 'path')
export class CreateProject extends ProjectFields implements ExactInput<NewProject, CreateProject> {
  @Int({ optional: true, nullable: true }) namespace_id?: number | null;
  @Int({ optional: true, nullable: true }) organization_id?: number | null;
  @Flag({ optional: true, about: 'Begins the repository with a README.' }) initialize_with_readme?: boolean;
}

export class CreateUserProject extends CreateProject implements ExactInput<NewProject, CreateUserProject, 'user_id'> {
  @Int({ in: 'path' }) user_id: number;
}

export class UpdateProject extends ProjectFields implements ExactInput<ProjectChange, UpdateProject, 'id'> {
  @IdOrPath({ in: 'path' }) id: number | string;
}
