import { Int, ListOf, Text } from '@rookery/api-v4';

const MESSAGE = 'Message of the commit, with placeholders. Default: that of the project.';
const MAX_SUGGESTIONS = 100;

export class ApplySuggestion {
  @Int() id: number;
  @Text({ optional: true, max: 100_000, about: MESSAGE }) commit_message?: string;
}

export class ApplySuggestions {
  @ListOf('int', { max: MAX_SUGGESTIONS, empty: 'refused', about: 'Ids of suggestions on one branch.' })
  ids: readonly number[];
  @Text({ optional: true, max: 100_000, about: MESSAGE }) commit_message?: string;
}
