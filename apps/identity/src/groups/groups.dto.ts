import type { UploadedFile } from '@rookery/api-v4';
import { Flag, IdOrPath, Int, ListOfHashes, OneOf, Text, withPlainFields } from '@rookery/api-v4';
import type { ExactInput, Visibility } from '@rookery/kernel';
import { VISIBILITIES } from '@rookery/kernel';
import { AvatarUploadField } from '../avatars/avatars.dto';
import { GROUP_FIELDS } from '../namespaces/settings/group-settings';
import type { GroupChange, NewGroup } from './group-input';

export class ShowGroup {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Flag({ default: true, deprecated: 'GET /groups/:id/projects' }) with_projects: boolean;
  @Flag({ default: false, forAdministrators: true }) with_custom_attributes: boolean;
}

class BranchProtectionAccessLevel {
  @OneOf([0, 30, 40]) access_level: 0 | 30 | 40;
}

class BranchProtectionFields {
  @ListOfHashes(() => BranchProtectionAccessLevel, { optional: true }) allowed_to_push?: BranchProtectionAccessLevel[];
  @Flag({ optional: true }) allow_force_push?: boolean;
  @ListOfHashes(() => BranchProtectionAccessLevel, { optional: true }) allowed_to_merge?: BranchProtectionAccessLevel[];
  @Flag({ optional: true }) developer_can_initial_push?: boolean;
  @Flag({ optional: true }) code_owner_approval_required?: boolean;
}
const hashes = { default_branch_protection_defaults: () => BranchProtectionFields };

class GroupBasicFields {
  @AvatarUploadField() avatar?: UploadedFile | null;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @OneOf(VISIBILITIES, { optional: true }) visibility?: Visibility;
}

/** Fields that creation and update share. Source: reference identity-and-import 2.4-2.6. */
class GroupFields extends withPlainFields(GroupBasicFields, GROUP_FIELDS, { when: 'always', hashes }) {}

export class CreateGroup extends GroupFields implements ExactInput<NewGroup, CreateGroup, 'parent_id'> {
  @Text() name: string;
  @Text() path: string;
  @Int({ optional: true }) parent_id?: number;
  @Int({ optional: true }) organization_id?: number;
}

class UpdateGroupFields extends GroupFields {
  @IdOrPath({ in: 'path' }) id: number | string;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true }) path?: string;
}

export class UpdateGroup
  extends withPlainFields(UpdateGroupFields, GROUP_FIELDS, { when: 'later' })
  implements ExactInput<GroupChange, UpdateGroup, 'id'>
{
  @Text({ optional: true, nullable: true, about: 'Not supported: only a blank text is accepted.' })
  ip_restriction_ranges?: string | null;
}
