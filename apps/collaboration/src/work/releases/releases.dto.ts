import { AtMostOneOf, Flag, HashOf, Instant, ListOf, ListOfHashes, OneOf, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import { LINK_TYPES } from './links/release-link.entity';
import type { LinkType, ReleaseLinkInput } from './links/release-link.entity';

const HTML = 'Adds the description as HTML.';
const MILESTONES = 'Titles of milestones of the project, or of the groups above it.';

/** Parameters of answers. */
class ReleaseAnswerOptions {
  @Flag({ default: false, about: HTML }) include_html_description: boolean;
}

export class ListReleases extends ReleaseAnswerOptions {
  @OneOf(['released_at', 'created_at'], { default: 'released_at' }) order_by: 'released_at' | 'created_at';
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: 'asc' | 'desc';
  @Instant({ optional: true }) updated_before?: Date;
  @Instant({ optional: true }) updated_after?: Date;
}

export class IdentifyRelease {
  @Text({ in: 'path', about: 'Name of the tag.' }) tag_name: string;
}

export class ShowRelease extends ReleaseAnswerOptions {
  @Text({ in: 'path', about: 'Name of the tag.' }) tag_name: string;
}

export class IdentifyReleaseAsset extends IdentifyRelease {
  @Text({ in: 'path', about: 'Path of a link, without its leading slash.' }) direct_asset_path: string;
}

export class ShowLatestRelease {
  @Flag({ optional: true, about: HTML }) include_html_description?: boolean;
}

export class ShowLatestReleasePart extends ShowLatestRelease {
  @Text({ in: 'path', about: 'Path below the release.' }) suffix_path: string;
}

/** Link of a new release. */
class NewReleaseLink implements ExactInput<ReleaseLinkInput, NewReleaseLink> {
  @Text() name: string;
  @Text({ about: 'Address with one of the schemes http, https, ftp.' }) url: string;
  @Text({ optional: true, nullable: true, about: 'Path of a permanent address of the link.' })
  direct_asset_path?: string | null;
  @Text({ optional: true, nullable: true, about: 'Deprecated: use `direct_asset_path`.' }) filepath?: string | null;
  @OneOf(LINK_TYPES, { default: 'other' }) link_type: LinkType;
}

/** Assets of a new release. */
class NewReleaseAssets {
  @ListOfHashes(() => NewReleaseLink, { default: [], max: 100, about: 'Links of the release.' })
  links: readonly NewReleaseLink[];
}

/** Parameters of creation and update. */
class ReleaseWriteFields {
  @Text({ optional: true, nullable: true, about: 'Default: the name of the tag.' }) name?: string | null;
  @Text({ optional: true, nullable: true }) description?: string | null;
  @Instant({ optional: true, about: 'Time of an upcoming or a historical release. Default: now.' }) released_at?: Date;
  @ListOf('text', { optional: true, max: 100, splitItems: true, about: MILESTONES }) milestones?: readonly string[];
  @ListOf('int', { optional: true, max: 100, about: 'Ids of the milestones.' }) milestone_ids?: readonly number[];
}

@AtMostOneOf('milestones', 'milestone_ids')
export class CreateRelease extends ReleaseWriteFields {
  @Text({ blank: 'refused', about: 'Name of the tag, which is created if it does not exist.' }) tag_name: string;
  @Text({ optional: true, nullable: true, about: 'Text of the annotation of a new tag.' }) tag_message?: string | null;
  @Text({ optional: true, nullable: true, about: 'Branch, tag or commit for a new tag.' }) ref?: string | null;
  @HashOf(() => NewReleaseAssets, { optional: true }) assets?: NewReleaseAssets;
}

@AtMostOneOf('milestones', 'milestone_ids')
export class UpdateRelease extends ReleaseWriteFields {
  @Text({ in: 'path', about: 'Name of the tag.' }) tag_name: string;
}
