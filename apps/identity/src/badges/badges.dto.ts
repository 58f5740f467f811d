import { Int, Text } from '@rookery/api-v4';

export class ListBadgesParams {
  @Text({ optional: true, about: 'The whole name, upper and lower case told apart.' }) name?: string;
}

export class BadgeParams {
  @Int() badge_id: number;
}

export class PreviewBadgeParams {
  @Text() link_url: string;
  @Text() image_url: string;
}

export class CreateBadgeParams extends PreviewBadgeParams {
  @Text({ optional: true, nullable: true }) name?: string | null;
}

export class UpdateBadgeParams extends BadgeParams {
  @Text({ optional: true }) link_url?: string;
  @Text({ optional: true }) image_url?: string;
  @Text({ optional: true, nullable: true }) name?: string | null;
}
