import type { ExactInput } from '@rookery/kernel';
import { AtMostOneOf, Flag, IdOrPath, Instant, Int, ListOf, OneOf, Text } from '@rookery/api-v4';
import type { BroadcastMessageInput, BroadcastType, Theme } from './broadcast-message.entity';
import { BROADCAST_TYPES, TARGET_ACCESS_LEVELS, THEMES } from './broadcast-message.entity';
import type { PageContext } from './displayed-messages.service';

const LEVELS = { oneOf: TARGET_ACCESS_LEVELS.map(String) };

export class IdentifyBroadcastMessage {
  @Int() id: number;
}

/** Access levels are texts in requests, because only lists of texts can have a fixed set of values. */
type InputWithoutAccessLevels = Omit<BroadcastMessageInput, 'target_access_levels'>;

/** Source: requirements 3 §4 Broadcast messages; reference packages-and-admin 7. */
export class CreateBroadcastMessage implements ExactInput<
  InputWithoutAccessLevels,
  CreateBroadcastMessage,
  'target_access_levels'
> {
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

/** All fields are optional on update. */
const BroadcastMessageFields: new () => Partial<CreateBroadcastMessage> = CreateBroadcastMessage;

export class UpdateBroadcastMessage
  extends BroadcastMessageFields
  implements ExactInput<InputWithoutAccessLevels, UpdateBroadcastMessage, 'target_access_levels' | 'id'>
{
  @Int() id: number;
  @Text({ optional: true }) override message?: string;
}

/** Maximum length of a page path that is matched against targets. Units: characters. */
const LONGEST_PATH = 2048;

/** Source: reference packages-and-admin 7. */
@AtMostOneOf('project_id', 'group_id')
export class ListDisplayedBroadcastMessages implements ExactInput<PageContext, ListDisplayedBroadcastMessages> {
  @Text({
    optional: true,
    max: LONGEST_PATH,
    about: 'Path of the page. Without it, only messages without a target path are listed.',
  })
  path?: string;
  @IdOrPath({ optional: true, about: 'Id or full path of the project that the page belongs to.' })
  project_id?: number | string;
  @IdOrPath({ optional: true, about: 'Id or full path of the group that the page belongs to.' })
  group_id?: number | string;
}
