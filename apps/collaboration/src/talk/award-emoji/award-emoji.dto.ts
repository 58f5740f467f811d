import { Int, Text } from '@rookery/api-v4';

export class IdentifyAward {
  @Int() award_id: number;
}

export class CreateAward {
  @Text({ max: 255, about: 'Without colons.' }) name: string;
}

export class ListNoteAwards {
  @Int() note_id: number;
}

export class IdentifyNoteAward extends ListNoteAwards {
  @Int() award_id: number;
}

export class CreateNoteAward extends ListNoteAwards {
  @Text({ max: 255, about: 'Without colons.' }) name: string;
}
