import { alwaysEmptyList, bool, instant, int, list, nested, nullable, object, presenter, text } from '@rookery/api-v4';
import type { FieldType } from '@rookery/api-v4';
import { userSummary } from '@rookery/directory';
import type { Links } from '@rookery/platform';
import { json } from '../../base/noteables/json.shape';
import { commitPresenter } from '../../code/commits/commit.presenter';
import { encodeRefForUrlPath } from '../../code/refs/listing/ref-url';
import { releaseLinkPresenter } from './links/release-link.presenter';
import type { ReleaseLinkRow } from './links/release-link-row';
import { releaseMilestoneShape } from './release-milestone.shape';
import type { ReleaseRow } from './release-row';

const FORMATS = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const;
const canReaderReadCode = (row: ReleaseRow): boolean => row.readsCode;
const milestones: FieldType<string | null> = { schema: json.list(releaseMilestoneShape).type.schema, write: String };
function withDescription<V>(type: FieldType<V>, description: string): FieldType<V> {
  return { ...type, schema: { ...type.schema, description } };
}
const source = object<{ format: string; url: string }>({ format: text, url: text });
const assets = object<
  { count: number; links: readonly ReleaseLinkRow[] },
  { sources: readonly { format: string; url: string }[] }
>(
  { count: int, links: withDescription(list(nested(releaseLinkPresenter)), 'Links of the release.') },
  { sources: list(source) },
);
const PAGES = {
  closed_issues_url: ['issues', 'closed'],
  closed_merge_requests_url: ['merge_requests', 'closed'],
  merged_merge_requests_url: ['merge_requests', 'merged'],
  opened_issues_url: ['issues', 'opened'],
  opened_merge_requests_url: ['merge_requests', 'opened'],
} as const;
type PageName = keyof typeof PAGES | 'edit_url';
const pageTypes = Object.fromEntries([...Object.keys(PAGES), 'edit_url'].map((name) => [name, text])) as {
  readonly [K in PageName]: FieldType<string>;
};
const pages = object<{ self: string }, Record<PageName, string>>({ self: text }, pageTypes);

/** Source: reference repositories 7.1. */
export const releasePresenter = presenter<ReleaseRow>('Release').fields({
  name: [text, ({ release, ...row }) => (row.readsCode ? release.name : `Release-${release.id}`)],
  tag_name: [text, ({ release }) => release.tag, { when: canReaderReadCode }],
  description: [nullable(text), ({ release }) => release.description],
  description_html: [text, (row) => row.descriptionHtml ?? '', { when: (row) => row.descriptionHtml !== null }],
  created_at: [instant, ({ release }) => release.createdAt],
  released_at: [instant, ({ release }) => release.releasedAt, { about: 'Time of the release; may be in the future.' }],
  author: [nested(userSummary), (row) => row.author!, { when: (row) => row.author !== null }],
  commit: [
    nullable(nested(commitPresenter)),
    ({ commit, project }) => commit && { commit, projectPath: project.fullPath, hasTrailers: false },
    {
      when: canReaderReadCode,
      about: 'Commit of the tag when the release was created; null for a tag of a blob or tree.',
    },
  ],
  upcoming_release: [bool, (row) => row.isUpcoming, { about: 'The time of the release is in the future.' }],
  milestones: [
    milestones,
    (row) => row.milestones,
    { when: (row) => row.milestones !== null, about: 'Milestones of the release.' },
  ],
  commit_path: [
    text,
    ({ project, commit }) => `/${project.fullPath}/-/commit/${commit!.id}`,
    { when: (row) => row.readsCode && row.commit !== null, about: 'Path of the page of the commit.' },
  ],
  tag_path: [
    text,
    ({ project, release }) => `/${project.fullPath}/-/tags/${encodeRefForUrlPath(release.tag)}`,
    { when: canReaderReadCode, about: 'Path of the page of the tag.' },
  ],
  assets: [assets, (row, _, { links }) => releaseAssets(row, links), { about: 'Archives of the code, and links.' }],
  evidences: [
    alwaysEmptyList,
    () => [],
    { when: canReaderReadCode, about: 'Always empty: evidence is not collected.' },
  ],
  _links: [pages, (row, _, { links }) => releasePageUrls(row, links), { about: 'Pages of the release.' }],
});

/** Returns the address of a release below `/api/v4`. */
export function apiPathOfRelease(projectId: number, tag: string): string {
  return `projects/${projectId}/releases/${encodeURIComponent(tag)}`;
}

function releaseAssets({ links: shown, readsCode: hasSources, project, release }: ReleaseRow, links: Links) {
  if (!hasSources) return { count: shown.length, links: shown };
  const query = `sha=${encodeURIComponent(release.tag)}`;
  const sources = FORMATS.map((format) => ({
    format,
    url: links.apiUrl(`projects/${project.id}/repository/archive.${format}?${query}`),
  }));
  return { count: shown.length + sources.length, sources, links: shown };
}

function releasePageUrls({ project, release, readsCode: isNamed, mayChange }: ReleaseRow, links: Links) {
  const all = links.webUrl(`${project.fullPath}/-/releases`);
  if (!isNamed) return { self: all };
  const self = `${all}/${encodeURIComponent(release.tag)}`;
  const addressOf = ([page, state]: readonly [string, string]) =>
    links.webUrl(
      `${project.fullPath}/-/${page}?release_tag=${encodeURIComponent(release.tag)}&scope=all&state=${state}`,
    );
  const addresses = Object.fromEntries(Object.entries(PAGES).map(([name, page]) => [name, addressOf(page)])) as Record<
    keyof typeof PAGES,
    string
  >;
  return { self, ...addresses, ...(mayChange ? { edit_url: `${self}/edit` } : {}) };
}
