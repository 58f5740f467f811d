import { Int, Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { BadgeInput } from './badge.entity';

export class ListBadges {
  @Text({ optional: true, about: 'Exact name, case-sensitive.' }) name?: string;
}

export class IdentifyBadge {
  @Int() badge_id: number;
}

export class PreviewBadge {
  @Text() link_url: string;
  @Text() image_url: string;
}

export class CreateBadge extends PreviewBadge implements ExactInput<BadgeInput, CreateBadge> {
  @Text({ optional: true, nullable: true }) name?: string | null;
}

export class UpdateBadge extends IdentifyBadge implements ExactInput<BadgeInput, UpdateBadge, 'badge_id'> {
  @Text({ optional: true }) link_url?: string;
  @Text({ optional: true }) image_url?: string;
  @Text({ optional: true, nullable: true }) name?: string | null;
}
