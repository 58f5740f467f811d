import { bool, int, nullable, presenter, text } from '@rookery/api-v4';
import type { ShownLabel } from './label-facts.queries';

const counted = { when: ({ counts }: ShownLabel) => counts !== null };

/** Source: reference work-tracking 9.4. */
export const shownLabel = presenter<ShownLabel>('Label').fields({
  id: [int, ({ label }) => label.id],
  name: [text, ({ label }) => label.title],
  description: [nullable(text), ({ label }) => label.description],
  description_html: [text, ({ label }) => label.descriptionHtml],
  text_color: [text, ({ label }) => label.textColor],
  color: [text, ({ label }) => label.color],
  archived: [bool, ({ label }) => label.archived],
  open_issues_count: [int, ({ counts }) => counts!.openedIssues, counted],
  closed_issues_count: [int, ({ counts }) => counts!.closedIssues, counted],
  open_merge_requests_count: [int, ({ counts }) => counts!.openedMergeRequests, counted],
  subscribed: [bool, ({ isSubscribed }) => isSubscribed],
  priority: [nullable(int), ({ priority }) => priority],
  is_project_label: [bool, ({ label }) => label.projectId !== null],
});
