import { Controller } from '@nestjs/common';
import { Endpoint, redirect } from '@rookery/api-v4';
import type { Call, ProjectScope } from '@rookery/api-v4';
import { Links } from '@rookery/platform';
import { readsFilesOf } from '../../code/repositories/code.permission';
import { ReleaseLinksQueries } from './links/release-links.queries';
import { apiPathOfRelease } from './release.presenter';
import { IdentifyReleaseAsset, ShowLatestRelease, ShowLatestReleasePart } from './releases.dto';
import { ReleasesQueries } from './releases.queries';

const ALL = '/projects/:id/releases';
const LATEST = `${ALL}/permalink/latest`;
const leads = {
  ...readsFilesOf,
  source: 'reference repositories 7.5',
  answers: redirect(),
  fails: [404],
};

/** Permanent addresses of releases and of their links. Source: reference repositories 7.5. */
@Controller()
export class ReleaseAddressesController {
  constructor(
    private readonly releases: ReleasesQueries,
    private readonly assets: ReleaseLinksQueries,
    private readonly links: Links,
  ) {}

  @Endpoint('GET', LATEST, { ...leads, about: 'Leads to the latest release.', params: ShowLatestRelease })
  latest({ within, params }: Call<ShowLatestRelease, ProjectScope>): Promise<string> {
    return this.latestReleaseAddress(within, '', params);
  }

  @Endpoint('GET', `${LATEST}/*suffix_path`, {
    ...leads,
    about: 'Leads to a path below the latest release.',
    params: ShowLatestReleasePart,
  })
  latestPart({ within, params }: Call<ShowLatestReleasePart, ProjectScope>): Promise<string> {
    const path = params.suffix_path.split('/').map(encodeURIComponent).join('/');
    return this.latestReleaseAddress(within, `/${path}`, params);
  }

  @Endpoint('GET', `${ALL}/:tag_name/downloads/*direct_asset_path`, {
    ...leads,
    about: 'Leads to the address of a link of a release.',
    params: IdentifyReleaseAsset,
  })
  async download({ within, params }: Call<IdentifyReleaseAsset, ProjectScope>): Promise<string> {
    const { id } = await this.releases.findRelease(within, params.tag_name);
    const { url } = await this.assets.atPath(id, params.direct_asset_path);
    return new URL(url).href;
  }

  private async latestReleaseAddress(
    project: ProjectScope,
    suffix: string,
    params: ShowLatestRelease,
  ): Promise<string> {
    const { tag } = await this.releases.findLatest(project);
    const { include_html_description: html } = params;
    const query = html === undefined ? '' : `?include_html_description=${html}`;
    return this.links.apiUrl(`${apiPathOfRelease(project.id, tag)}${suffix}${query}`);
  }
}
