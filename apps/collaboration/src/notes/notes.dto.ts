import { Flag, Instant, Int, OneOf, Text } from '@rookery/api-v4';
import type { NoteOrder } from './notes.statements';

/** The issue whose notes are meant. */
export class NotesOfIssue {
  @Int() issue_iid: number;
}

export class OneNote extends NotesOfIssue {
  @Int() note_id: number;
}

export class ListNotes extends NotesOfIssue {
  @OneOf(['asc', 'desc'], { default: 'desc' }) sort: NoteOrder['sort'];
  @OneOf(['created_at', 'updated_at'], { default: 'created_at' }) order_by: NoteOrder['orderBy'];
  @OneOf(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' })
  activity_filter: NoteOrder['activity'];
}

export class CreateNote extends NotesOfIssue {
  @Text({ about: 'At most 1,000,000 characters of Markdown.' }) body: string;
  @Flag({ optional: true, about: 'Seen by reporters and above only.' }) internal?: boolean;
  @Flag({ optional: true, deprecated: 'internal' }) confidential?: boolean;
  @Instant({ optional: true, after: '1970-01-01T00:00:00Z', about: 'Administrators and owners; ignored for others.' })
  created_at?: Date;
}

export class EditNote extends OneNote {
  @Text({ optional: true, about: 'At most 1,000,000 characters of Markdown.' }) body?: string;
  @Flag({ optional: true, deprecated: 'nothing: a note stays as internal or public as it was written' })
  confidential?: boolean;
}
