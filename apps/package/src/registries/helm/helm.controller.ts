import { Controller } from '@nestjs/common';
import { createdMessage, Endpoint, file, streamedFile, streamedBody } from '@rookery/api-v4';
import type { Call, FileAnswer, ProjectScope, StreamedCall } from '@rookery/api-v4';
import type { SignedInViewer } from '@rookery/kernel';
import { Links } from '@rookery/platform';
import { addErrorKeyToRefusal } from '../../packages/error-key.presenter';
import { packageDownload } from '../../packages/package-download.presenter';
import { MAX_FILE_BYTES, PackageFiles } from '../../packages/package-files';
import { basicRegistry, publishesPackages, readsPackages } from '../../packages/packages.permission';
import { IdentifyHelmFile, ShowHelmIndex, UploadHelmChart } from './helm.dto';
import { HelmQueries } from './helm.queries';
import { HelmService } from './helm.service';
import { INDEX_TYPE, indexDocument } from './index-document.presenter';

const HELM = '/projects/:id/packages/helm';
const registry = { ...basicRegistry, source: 'reference packages-and-admin 4.8' } as const;

@Controller()
export class HelmController {
  constructor(
    private readonly uploads: HelmService,
    private readonly helm: HelmQueries,
    private readonly files: PackageFiles,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', `${HELM}/:channel/index.yaml`, {
    ...registry,
    may: readsPackages,
    about: 'Lists the charts of a channel for Helm.',
    params: ShowHelmIndex,
    answers: file(INDEX_TYPE),
    fails: [304],
  })
  async showIndex({ within, params }: Call<ShowHelmIndex, ProjectScope>): Promise<FileAnswer> {
    const { id, channel } = params;
    const { pathname: contextPath } = new URL(this.links.apiUrl(`projects/${encodeURIComponent(id)}/packages/helm`));
    const state = await this.helm.readState(within.id, channel);
    return indexDocument({ contextPath, state, charts: () => this.helm.listCharts(within.id, channel) });
  }

  @Endpoint('GET', `${HELM}/:channel/charts/:file_name`, {
    ...registry,
    may: readsPackages,
    about: 'Downloads a chart, or its provenance file.',
    params: IdentifyHelmFile,
    answers: streamedFile(),
    fails: [404],
  })
  async download({ within, params }: Call<IdentifyHelmFile, ProjectScope>): Promise<FileAnswer> {
    const { channel, file_name: name } = params;
    return packageDownload(this.files, await this.helm.findNewest(within.id, channel, name), name);
  }

  @Endpoint('POST', `${HELM}/api/:channel/charts`, {
    ...registry,
    // Uploaders show this key alone.
    refusals: { ...registry.refusals, renderedAs: addErrorKeyToRefusal },
    may: publishesPackages,
    about: 'Uploads a chart, as a form.',
    params: UploadHelmChart,
    body: streamedBody({ maxBytes: MAX_FILE_BYTES }),
    answers: createdMessage(),
    fails: [400],
  })
  async upload({ within, viewer, params, body }: StreamedCall<UploadHelmChart, ProjectScope, SignedInViewer>) {
    await this.uploads.uploadChart(within, viewer, params.channel, body);
  }
}
