import { Flag, HashOf, Int, Text } from '@rookery/api-v4';
import { SetPosition } from '../../../talk/notes/discussions/discussions.dto';
import { IdentifyMergeRequest } from '../merge-requests.dto';

export class IdentifyDraftNote extends IdentifyMergeRequest {
  @Int({ about: 'Id of the draft.' }) draft_note_id: number;
}

export class CreateDraftNote extends IdentifyMergeRequest {
  @Text({ about: 'At most 1,000,000 characters of Markdown.' }) note: string;
  @Text({ optional: true, about: 'Full id of the commit that the note is about.' }) commit_id?: string;
  @Text({ optional: true, max: 100, about: 'Discussion that the note answers.' }) in_reply_to_discussion_id?: string;
  @Flag({ default: false, about: 'Publishing resolves the discussion.' }) resolve_discussion: boolean;
  @HashOf(() => SetPosition, { optional: true, about: 'Place in the diff.' }) position?: SetPosition;
}

export class UpdateDraftNote extends IdentifyDraftNote {
  @Text({ optional: true, about: 'At most 1,000,000 characters of Markdown.' }) note?: string;
  @HashOf(() => SetPosition, { optional: true, about: 'Another place in the diff.' }) position?: SetPosition;
}
