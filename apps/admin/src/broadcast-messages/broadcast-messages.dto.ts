import type { NothingBut } from '@rookery/kernel';
import { Exclusive, Flag, IdOrPath, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { BroadcastMessageInput, BroadcastType, Theme } from './broadcast-message.entity';
import { BROADCAST_TYPES, TARGET_ACCESS_LEVELS, THEMES } from './broadcast-message.entity';
import type { Whereabouts } from './displayed-messages.service';

const LEVELS = { oneOf: TARGET_ACCESS_LEVELS.map(String) };

export class OneBroadcastMessage {
  @Int() id: number;
}

/** Levels are texts here, as lists of numbers have no bounds. */
type Input = Omit<BroadcastMessageInput, 'target_access_levels'>;

/** Source: requirements 3 §4 Broadcast messages; reference packages-and-admin 7. */
export class CreateBroadcastMessage implements NothingBut<Input, CreateBroadcastMessage, 'target_access_levels'> {
  @Text() message: string;
  @Instant({ optional: true, about: 'Default: now.' }) starts_at?: Date;
  @Instant({ optional: true, about: 'Default: one hour from now.' }) ends_at?: Date;
  @Text({ optional: true, about: 'Foreground colour, # and 3 or 6 hex digits.' }) font?: string;
  @ListOf(LEVELS, { optional: true }) target_access_levels?: readonly string[];
  @Text({ optional: true, about: 'Paths of pages; `*` is any run of characters.' }) target_path?: string;
  @OneOf(BROADCAST_TYPES, { optional: true }) broadcast_type?: BroadcastType;
  @OneOf(THEMES, { optional: true, about: 'Banners only.' }) theme?: Theme;
  @Flag({ optional: true }) dismissable?: boolean;
}

/** A change may leave out all of it. */
const BroadcastMessageFields: new () => Partial<CreateBroadcastMessage> = CreateBroadcastMessage;

export class UpdateBroadcastMessage
  extends BroadcastMessageFields
  implements NothingBut<Input, UpdateBroadcastMessage, 'target_access_levels' | 'id'>
{
  @Int() id: number;
  @Text({ optional: true }) override message?: string;
}

/** Longest path that is compared with targets. Units: characters. */
const LONGEST_PATH = 2048;

/** Source: reference packages-and-admin 7. */
@Exclusive('project_id', 'group_id')
export class ListDisplayedBroadcastMessages implements NothingBut<Whereabouts, ListDisplayedBroadcastMessages> {
  @Text({ optional: true, max: LONGEST_PATH, about: 'Of the page; without it, messages for some pages are left out.' })
  path?: string;
  @IdOrPath({ optional: true, about: 'Id or full path of the project that the page is about.' })
  project_id?: number | string;
  @IdOrPath({ optional: true, about: 'Id or full path of the group that the page is about.' })
  group_id?: number | string;
}
