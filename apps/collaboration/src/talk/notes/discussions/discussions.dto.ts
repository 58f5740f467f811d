import { ExactlyOneOf, Flag, Text } from '@rookery/api-v4';
import { CreateNote, OneNote } from '../notes.dto';

/** Shape: 40 hex digits; anything else finds nothing. */
export class OneDiscussion {
  @Text({ max: 100 }) discussion_id: string;
}

export class UpdateDiscussion extends OneDiscussion {
  @Flag() resolved: boolean;
}

export class CreateReply extends CreateNote {
  @Text({ max: 100 }) discussion_id: string;
}

export class OneReply extends OneNote {
  @Text({ max: 100 }) discussion_id: string;
}

@ExactlyOneOf('body', 'resolved')
export class UpdateReply extends OneReply {
  @Text({ optional: true, about: 'At most 1,000,000 characters of Markdown.' }) body?: string;
  @Flag({ optional: true }) resolved?: boolean;
}
