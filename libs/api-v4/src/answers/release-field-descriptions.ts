/** Default descriptions for releases; see `field-descriptions.ts`. */
export const WORDS_OF_RELEASES: Readonly<Record<string, string>> = {
  tag_name: 'Name of the tag.',
  assets: 'Archives of the code, and links.',
  sources: 'Archives of the code at the tag.',
  format: 'Format of the archive.',
  closed_issues_url: 'Address of the closed issues of the release.',
  closed_merge_requests_url: 'Address of the closed merge requests of the release.',
  merged_merge_requests_url: 'Address of the merged merge requests of the release.',
  opened_issues_url: 'Address of the open issues of the release.',
  opened_merge_requests_url: 'Address of the open merge requests of the release.',
  edit_url: 'Address of the page that changes the release.',
  issue_stats: 'Numbers of issues of the milestone that are not confidential.',
  total: 'Number of all issues.',
  closed: 'Number of closed issues.',
};
