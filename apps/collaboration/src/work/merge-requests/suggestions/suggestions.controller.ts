import { Controller } from '@nestjs/common';
import { unpagedList, Endpoint, JsonText, one, signedIn } from '@rookery/api-v4';
import type { Call } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { suggestionShape } from '../../../talk/notes/positions/suggestion.shape';
import { ApplySuggestionsService } from './apply-suggestions.service';
import { ApplySuggestion, ApplySuggestions } from './suggestions.dto';

const SOURCE = 'requirements 1 §4 Suggestions; reference repositories 8.13';
const suggestion = suggestionShape.presenter;
const MISSING = {
  one: 'Suggestion is not applicable as the suggestion was not found.',
  some: 'Suggestions are not applicable as one or more suggestions were not found.',
};

type ApplyCall<P> = Call<P, undefined, SignedInViewer>;

@Controller('suggestions')
export class SuggestionsController {
  constructor(private readonly suggestions: ApplySuggestionsService) {}

  @Endpoint('PUT', 'batch_apply', {
    about: 'Applies several suggestions in one commit, or none of them.',
    source: SOURCE,
    may: signedIn(),
    takesNoKey: true,
    params: ApplySuggestions,
    answers: unpagedList(suggestion),
    fails: [404],
  })
  async applyAll({ params, viewer }: ApplyCall<ApplySuggestions>): Promise<JsonText> {
    const { ids, commit_message: message = null } = params;
    const applied = await this.suggestions.applySuggestions(viewer, { ids, message, missing: MISSING.some });
    return new JsonText(`[${applied.join(',')}]`);
  }

  @Endpoint('PUT', ':id/apply', {
    about: 'Applies a suggestion as a commit on the source branch.',
    source: SOURCE,
    may: signedIn(),
    takesNoKey: true,
    params: ApplySuggestion,
    answers: one(suggestion),
    fails: [404],
  })
  async apply({ params, viewer }: ApplyCall<ApplySuggestion>): Promise<JsonText> {
    const { id, commit_message: message = null } = params;
    const [applied] = await this.suggestions.applySuggestions(viewer, { ids: [id], message, missing: MISSING.one });
    return new JsonText(applied!);
  }
}
