import { Flag, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { BroadcastType, Theme } from './broadcast-message.entity';
import { BROADCAST_TYPES, TARGET_ACCESS_LEVELS, THEMES } from './broadcast-message.entity';

const LEVELS = { oneOf: TARGET_ACCESS_LEVELS.map(String) };

export class BroadcastMessageParams {
  @Int() id: number;
}

/** Source: requirements 3 §4 Broadcast messages; reference packages-and-admin 7. */
export class CreateBroadcastMessage {
  @Text() message: string;
  @Instant({ optional: true, about: 'Default: now.' }) starts_at?: Date;
  @Instant({ optional: true, about: 'Default: one hour from now.' }) ends_at?: Date;
  @Text({ optional: true, about: 'Foreground colour, # and 3 or 6 hex digits.' }) font?: string;
  @ListOf(LEVELS, { optional: true }) target_access_levels?: readonly string[];
  @Text({ optional: true }) target_path?: string;
  @OneOf(BROADCAST_TYPES, { optional: true }) broadcast_type?: BroadcastType;
  @OneOf(THEMES, { optional: true, about: 'Banners only.' }) theme?: Theme;
  @Flag({ optional: true }) dismissable?: boolean;
}

export class UpdateBroadcastMessage extends CreateBroadcastMessage {
  @Int() id: number;
  @Text({ optional: true }) declare message: string;
}
