import { Flag, Int, ListOfHashes, OneOf, Search, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { RULE_LEVELS, UNPROTECT_LEVELS } from './access-levels';
import type { LevelChange, RuleLevel } from './access-levels';
import type { NewProtectedBranch, ProtectedBranchChange } from './protected-branch.entity';
import type { NewProtectedTag } from './protected-tag.entity';

const NAME = 'Name of a branch or tag; `*` stands for any characters.';

/** One access level of a list. */
class AccessLevelItem implements ExactInput<LevelChange, AccessLevelItem> {
  @Int({ optional: true, nullable: true, about: 'Id of an existing access level.' }) id?: number | null;
  @OneOf(RULE_LEVELS, { optional: true, nullable: true }) access_level?: RuleLevel | null;
  @Int({ optional: true, nullable: true, about: 'Not supported.' }) user_id?: number | null;
  @Int({ optional: true, nullable: true, about: 'Not supported.' }) group_id?: number | null;
  @Int({ optional: true, nullable: true, about: 'Not supported.' }) deploy_key_id?: number | null;
  @Flag({ optional: true, about: 'Removes the access level with this id.' }) _destroy?: boolean;
}

export class ListProtectedRefs {
  @Search() search?: string;
}

/** Path of the rule for a branch or tag. */
export class IdentifyProtectedRef {
  @Text({ in: 'path', about: NAME }) name: string;
}

/** Lists of access levels, with which clients state or change them one by one. */
class BranchAccessLevelFields {
  @ListOfHashes(() => AccessLevelItem, { optional: true, about: 'Callers who may push.' })
  allowed_to_push?: AccessLevelItem[];
  @ListOfHashes(() => AccessLevelItem, { optional: true, about: 'Callers who may merge.' })
  allowed_to_merge?: AccessLevelItem[];
  @ListOfHashes(() => AccessLevelItem, { optional: true, about: 'Callers who may remove the rule.' })
  allowed_to_unprotect?: AccessLevelItem[];
  @Flag({ optional: true, nullable: true, about: 'Pushes may replace commits.' }) allow_force_push?: boolean | null;
  @Flag({ optional: true, nullable: true, hasNoEffect: true, about: 'Code owners are not supported.' })
  code_owner_approval_required?: boolean | null;
}

export class CreateProtectedBranch
  extends BranchAccessLevelFields
  implements ExactInput<NewProtectedBranch, CreateProtectedBranch, 'code_owner_approval_required'>
{
  @Text({ blank: 'refused', max: 255, about: NAME }) name: string;
  @OneOf(RULE_LEVELS, { optional: true, nullable: true }) push_access_level?: RuleLevel | null;
  @OneOf(RULE_LEVELS, { optional: true, nullable: true }) merge_access_level?: RuleLevel | null;
  @OneOf(UNPROTECT_LEVELS, { optional: true, nullable: true }) unprotect_access_level?: Exclude<RuleLevel, 0> | null;
}

export class UpdateProtectedBranch
  extends BranchAccessLevelFields
  implements ExactInput<ProtectedBranchChange, UpdateProtectedBranch, 'name' | 'code_owner_approval_required'>
{
  @Text({ in: 'path', about: NAME }) name: string;
}

export class CreateProtectedTag implements ExactInput<NewProtectedTag, CreateProtectedTag> {
  @Text({ blank: 'refused', max: 255, about: NAME }) name: string;
  @OneOf(RULE_LEVELS, { optional: true, nullable: true }) create_access_level?: RuleLevel | null;
  @ListOfHashes(() => AccessLevelItem, { optional: true, about: 'Callers who may create the tags.' })
  allowed_to_create?: AccessLevelItem[];
}
