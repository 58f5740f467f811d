import { AtLeastOneOf, Flag, Hash, Instant, Int, OneOf, Search, Text } from '@rookery/api-v4';
import type { UploadedFile } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { AvatarUploadField } from '../avatars/avatars.dto';
import type { UserChange } from './changing/user-changes.service';
import type { NewUser } from './user-rules';
import type { UserFilters } from './users.queries';

export class ListUsers implements UserFilters {
  @Text({ optional: true, about: 'Exact username, ignoring case.' }) username?: string;
  @Search({ about: 'Part of the name or username, or a whole public e-mail address.' }) search?: string;
  @Flag({ optional: true, about: 'Only active users. `false` has no effect.' }) active?: boolean;
  @Flag({ optional: true, about: 'Only blocked users. `false` has no effect.' }) blocked?: boolean;
  @Flag({ optional: true, forAdministrators: true }) external?: boolean;
  @Flag({ optional: true }) humans?: boolean;
  @Flag({ optional: true }) exclude_active?: boolean;
  @Flag({ optional: true, forAdministrators: true }) exclude_external?: boolean;
  @Flag({ optional: true }) exclude_humans?: boolean;
  @Flag({ optional: true }) exclude_internal?: boolean;
  @Flag({ optional: true }) without_project_bots?: boolean;
  @Instant({ optional: true, forAdministrators: true }) created_after?: Date;
  @Instant({ optional: true, forAdministrators: true }) created_before?: Date;
  @Text({ optional: true, forAdministrators: true, about: 'Requires provider.' }) extern_uid?: string;
  @Text({ optional: true, forAdministrators: true }) provider?: string;
  @OneOf(['enabled', 'disabled'], { optional: true, forAdministrators: true }) two_factor?: 'enabled' | 'disabled';
  @Flag({ optional: true, forAdministrators: true }) without_projects?: boolean;
  @Flag({ optional: true, forAdministrators: true }) admins?: boolean;
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
  @Hash({ optional: true, forAdministrators: true, about: 'Users that have all of these attributes.' })
  custom_attributes?: Record<string, string | null>;
  @OneOf(['id', 'name', 'username', 'created_at', 'updated_at'], {
    default: 'id',
    forAdministrators: true,
    about: 'Other callers get the order by id.',
  })
  order_by: 'id' | 'name' | 'username' | 'created_at' | 'updated_at';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
}

export class IdentifyUser {
  @Int({ in: 'path' }) id: number;
}

export class ShowUser extends IdentifyUser {
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
}

/** Maximum of the column's type. */
const MAX_PROJECTS_LIMIT = 2 ** 31 - 1;

/** Parameters that creation and update share. */
class SharedUserFields {
  @Text({ optional: true, about: 'At least 8 characters.' }) password?: string;
  @Flag({ optional: true }) admin?: boolean;
  @Flag({ optional: true }) can_create_group?: boolean;
  @Flag({ optional: true }) external?: boolean;
  @Flag({ optional: true }) private_profile?: boolean;
  @Int({ optional: true, min: 0, max: MAX_PROJECTS_LIMIT }) projects_limit?: number;
  @Text({ optional: true }) bio?: string;
  @Text({ optional: true }) location?: string;
  @Text({ optional: true }) linkedin?: string;
  @Text({ optional: true }) twitter?: string;
  @Text({ optional: true }) discord?: string;
  @Text({ optional: true }) github?: string;
  @Text({ optional: true }) website_url?: string;
  @Text({ optional: true }) organization?: string;
  @Text({ optional: true }) job_title?: string;
  @Text({ optional: true }) pronouns?: string;
  @Text({ optional: true }) note?: string;
  @Text({ optional: true, about: "One of the user's own addresses." }) public_email?: string;
  @Text({ optional: true, about: "One of the user's own addresses." }) commit_email?: string;
  @Text({ optional: true, about: 'Requires provider.' }) extern_uid?: string;
  @Text({ optional: true }) provider?: string;
  @Int({ optional: true }) theme_id?: number;
  @Int({ optional: true }) color_scheme_id?: number;
  @Flag({ optional: true }) view_diffs_file_by_file?: boolean;
  @AvatarUploadField() avatar?: UploadedFile | null;
}

/** Alternatives to a password. They are required in place of one and have no other effect. */
type PasswordAlternatives = 'reset_password' | 'force_random_password';

@AtLeastOneOf('password', 'reset_password', 'force_random_password')
export class CreateUser
  extends SharedUserFields
  implements ExactInput<NewUser, CreateUser, PasswordAlternatives | 'skip_confirmation'>
{
  @Text() email: string;
  @Text() username: string;
  @Text() name: string;
  @Flag({ optional: true, about: 'Creates a user who cannot sign in with a password.' }) reset_password?: boolean;
  @Flag({ optional: true }) force_random_password?: boolean;
  @Flag({ optional: true, hasNoEffect: true, about: 'Addresses set by administrators count as confirmed.' })
  skip_confirmation?: boolean;
}

export class ListMemberships {
  @Int({ in: 'path' }) id: number;
  @OneOf(['Namespace', 'Project'], { optional: true, about: 'Only memberships of groups, or of projects.' })
  type?: 'Namespace' | 'Project';
}

export class UpdateUser
  extends SharedUserFields
  implements ExactInput<UserChange, UpdateUser, 'id' | 'skip_reconfirmation'>
{
  @Int({ in: 'path' }) id: number;
  @Text({ optional: true }) email?: string;
  @Text({ optional: true }) username?: string;
  @Text({ optional: true }) name?: string;
  @Flag({ optional: true, hasNoEffect: true, about: 'Addresses set by administrators count as confirmed.' })
  skip_reconfirmation?: boolean;
}

export class UpdateOwnAvatar {
  @AvatarUploadField() avatar?: UploadedFile | null;
}
