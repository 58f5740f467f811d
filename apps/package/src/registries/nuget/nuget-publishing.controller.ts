import { Controller } from '@nestjs/common';
import { createdMessage, Endpoint, noContent, streamedBody } from '@rookery/api-v4';
import type { Call, NoParams, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { MAX_FILE_BYTES } from '../../packages/package-files';
import { basicRegistry, publishesPackages, removesPackages } from '../../packages/packages.permission';
import { NugetRemovals } from './nuget-removals';
import { IdentifyNugetVersion } from './nuget.dto';
import { NugetService } from './nuget.service';

const NUGET = '/projects/:id/packages/nuget';
const registry = { ...basicRegistry, source: 'reference packages-and-admin 4.9' } as const;
const pushes = {
  ...registry,
  may: publishesPackages,
  body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
  answers: createdMessage(),
} as const;

type PushCall = StreamedCall<NoParams, ProjectScope, SignedInViewer>;

@Controller()
export class NugetPublishingController {
  constructor(
    private readonly nuget: NugetService,
    private readonly removals: NugetRemovals,
  ) {}

  @Endpoint('PUT', NUGET, { ...pushes, about: 'Pushes a NuGet package, as a form.', fails: [400, 409] })
  async push(call: PushCall): Promise<void> {
    await this.nuget.pushPackage(call.within, call.viewer, call, 'nupkg');
  }

  @Endpoint('PUT', `${NUGET}/symbolpackage`, {
    ...pushes,
    about: 'Pushes the symbols of a version of a NuGet package, as a form.',
    fails: [400, 404, 409],
  })
  async pushSymbols(call: PushCall): Promise<void> {
    await this.nuget.pushPackage(call.within, call.viewer, call, 'snupkg');
  }

  @Endpoint('DELETE', `${NUGET}/:package_name/:package_version`, {
    ...registry,
    may: removesPackages,
    about: 'Deletes a version of a NuGet package.',
    params: IdentifyNugetVersion,
    answers: noContent(),
    fails: [404],
  })
  async remove({ within, viewer, params }: Call<IdentifyNugetVersion, ProjectScope, SignedInViewer>): Promise<void> {
    await this.removals.removeVersion(within, viewer, params.package_name, params.package_version);
  }
}
