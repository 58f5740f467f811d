import { Controller } from '@nestjs/common';
import { accepted, Endpoint, signedIn } from '@rookery/api-v4';
import type { Call } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { ImportGists } from './gists.dto';
import { GistsService } from './gists.service';

@Controller()
export class GistsController {
  constructor(private readonly gists: GistsService) {}

  @Endpoint('POST', '/import/remote/gists', {
    about: 'Imports the gists of a user of an upstream host as personal snippets of the caller.',
    source: 'requirements 2 §4 Imports; reference identity-and-import 6.9',
    may: signedIn(),
    params: ImportGists,
    fails: [401, 403, 422, 429],
    refusals: { startsImport: 'gists' },
    answers: accepted({ empty: true }),
    aliases: ['/import/github/gists'],
    takesNoKey: true,
  })
  async start({ viewer, params }: Call<ImportGists, undefined, SignedInViewer>): Promise<void> {
    await this.gists.start(viewer, params);
  }
}
