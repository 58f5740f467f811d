import { Controller } from '@nestjs/common';
import { createdMessage, Endpoint, streamedFile } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { basicRegistry, publishesCode, readsCodeOfPackages } from '../../packages/packages.permission';
import { IdentifyComposerArchive, PublishComposerVersion } from './composer.dto';
import { ComposerService } from './composer.service';

const COMPOSER = '/projects/:id/packages/composer';
const registry = { ...basicRegistry, source: 'reference packages-and-admin 4.11' } as const;

@Controller()
export class ComposerProjectController {
  constructor(private readonly composer: ComposerService) {}

  @Endpoint('POST', COMPOSER, {
    ...registry,
    may: publishesCode,
    about: 'Publishes the commit of a tag or branch as a version of a Composer package.',
    params: PublishComposerVersion,
    answers: createdMessage(),
    fails: [400, 404, 422],
    // The commit is kept by a ref of git, outside of the transaction of a key.
    takesNoKey: true,
  })
  async publish({ within, viewer, params }: Call<PublishComposerVersion, ProjectScope, SignedInViewer>): Promise<void> {
    await this.composer.publishVersion(within, viewer, params);
  }

  @Endpoint('GET', `${COMPOSER}/archives/*package_name.zip`, {
    ...registry,
    may: readsCodeOfPackages,
    about: 'Downloads the files of a version of a Composer package.',
    params: IdentifyComposerArchive,
    answers: streamedFile('application/zip'),
    fails: [404, 429],
  })
  async download({ within, viewer, params }: Call<IdentifyComposerArchive, ProjectScope>): Promise<FileAnswer> {
    const { package_name: name, sha } = params;
    const open = await this.composer.findArchive(within, viewer, name, sha);
    const filename = `${name.replace('/', '-')}-${sha}.zip`;
    return { stream: open, mediaType: 'application/zip', filename, version: sha };
  }
}
