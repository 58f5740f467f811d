import { AtLeastOneOf, Int, OneOf, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { LINK_TYPES } from './release-link.entity';
import type { LinkType, ReleaseLinkInput } from './release-link.entity';

const TAG = 'Name of the tag.';

export class ListReleaseLinks {
  @Text({ in: 'path', about: TAG }) tag_name: string;
}

export class IdentifyReleaseLink {
  @Text({ in: 'path', about: TAG }) tag_name: string;
  @Int() link_id: number;
}

/** Parameters of creation and update. */
class ReleaseLinkWriteFields {
  @Text({ optional: true, nullable: true, about: 'Path of a permanent address of the link; blank for none.' })
  direct_asset_path?: string | null;
  @Text({ optional: true, nullable: true, about: 'Deprecated: use `direct_asset_path`.' }) filepath?: string | null;
  @OneOf(LINK_TYPES, { optional: true, about: 'Type of the link. Default: `other`.' }) link_type?: LinkType;
}

export class CreateReleaseLink
  extends ReleaseLinkWriteFields
  implements ExactInput<ReleaseLinkInput, CreateReleaseLink, 'tag_name'>
{
  @Text({ in: 'path', about: TAG }) tag_name: string;
  @Text() name: string;
  @Text({ about: 'Address with one of the schemes http, https, ftp.' }) url: string;
}

@AtLeastOneOf('name', 'url')
export class UpdateReleaseLink
  extends ReleaseLinkWriteFields
  implements ExactInput<ReleaseLinkInput, UpdateReleaseLink, 'tag_name' | 'link_id'>
{
  @Text({ in: 'path', about: TAG }) tag_name: string;
  @Int() link_id: number;
  @Text({ optional: true }) name?: string;
  @Text({ optional: true, about: 'Address with one of the schemes http, https, ftp.' }) url?: string;
}
