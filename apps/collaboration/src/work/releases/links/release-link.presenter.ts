import { bool, choice, int, presenter, text } from '@rookery/api-v4';
import type { Links } from '@rookery/platform';
import { LINK_TYPES } from './release-link.entity';
import type { ReleaseLinkRow } from './release-link-row';

/** Source: reference repositories 7.4. */
export const releaseLinkPresenter = presenter<ReleaseLinkRow>('ReleaseLink').fields({
  id: [int, ({ link }) => link.id],
  name: [text, ({ link }) => link.name],
  url: [text, ({ link }) => link.url],
  direct_asset_url: [
    text,
    (row, _, { links }) => directAssetUrl(row, links),
    { about: 'Permanent address of the link.' },
  ],
  external: [
    bool,
    ({ link, project }, _, { links }) => !isUrlBelow(link.url, links.webUrl(project.fullPath)),
    { about: 'The link leads out of the project.' },
  ],
  link_type: [choice(...LINK_TYPES), ({ link }) => link.linkType],
});

function directAssetUrl({ link, project, tag, readsCode }: ReleaseLinkRow, links: Links): string {
  if (link.filepath === null || !readsCode) return link.url;
  return links.apiUrl(`projects/${project.id}/releases/${encodeURIComponent(tag)}/downloads${link.filepath}`);
}

function isUrlBelow(url: string, base: string): boolean {
  return url === base || url.startsWith(`${base}/`);
}
