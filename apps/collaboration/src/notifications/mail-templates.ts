/** What an e-mail tells. Source: reference work-tracking 8.4. */
export const MAIL_TEMPLATES = [
  'issue_created',
  'issue_closed',
  'issue_reopened',
  'issue_reassigned',
  'issue_mentioned',
  'note_created',
] as const;
export type MailTemplate = (typeof MAIL_TEMPLATES)[number];

/** Why somebody gets it, strongest first. Source: reference work-tracking 8.3. */
export const MAIL_REASONS = ['own_activity', 'assigned', 'review_requested', 'mentioned', 'subscribed'] as const;
export type MailReason = (typeof MAIL_REASONS)[number];
