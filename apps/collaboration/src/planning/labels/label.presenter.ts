import { bool, int, nullable, presenter, text } from '@rookery/api-v4';
import type { LabelCount, LabelView } from './label-facts.queries';

const counted = { when: ({ counts }: LabelView) => counts !== null };
const countField = (noun: string, state: keyof LabelCount) =>
  [int, ({ counts }: LabelView) => counts!.get(noun)?.[state] ?? 0, counted] as const;

/** Presenter of labels. Source: reference work-tracking 9.4. */
export const labelPresenter = presenter<LabelView>('Label').fields({
  id: [int, ({ label }) => label.id],
  name: [text, ({ label }) => label.title],
  description: [nullable(text), ({ label }) => label.description],
  description_html: [text, ({ label }) => label.descriptionHtml],
  text_color: [text, ({ label }) => label.textColor],
  color: [text, ({ label }) => label.color],
  archived: [bool, ({ label }) => label.archived],
  open_issues_count: countField('issue', 'opened'),
  closed_issues_count: countField('issue', 'closed'),
  open_merge_requests_count: countField('merge_request', 'opened'),
  subscribed: [bool, ({ isSubscribed }) => isSubscribed],
  priority: [nullable(int), ({ priority }) => priority],
  is_project_label: [bool, ({ label }) => label.projectId !== null],
});
