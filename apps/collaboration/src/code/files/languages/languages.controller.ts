import { Controller } from '@nestjs/common';
import { Endpoint, json } from '@rookery/api-v4';
import type { Call, NoParams, ProjectScope } from '@rookery/api-v4';
import { readsFilesOf } from '../../repositories/code.permission';
import { Languages } from './languages';
import type { LanguageShares } from './languages';

const schema = { type: 'object', additionalProperties: { type: 'number' } };

/** Languages of repositories. Source: reference repositories 3.8. */
@Controller()
export class LanguagesController {
  constructor(private readonly languages: Languages) {}

  @Endpoint('GET', '/projects/:id/languages', {
    ...readsFilesOf,
    source: 'reference repositories 3.8',
    about: 'Languages of the default branch with their shares in percent.',
    answers: json<LanguageShares>(schema),
    fails: [413],
  })
  show({ within }: Call<NoParams, ProjectScope>): Promise<LanguageShares> {
    return this.languages.listShares(within);
  }
}
