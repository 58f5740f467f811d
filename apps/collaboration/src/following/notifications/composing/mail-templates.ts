import type { NoteableKind } from '../../../base/noteables/noteable-kinds';

/** What an e-mail tells. Source: reference work-tracking 8.4. */
export const MAIL_TEMPLATES = [
  'created',
  'closed',
  'reopened',
  'moved',
  'cloned',
  'reassigned',
  'relabelled',
  'mentioned',
  'note_created',
] as const;
export type MailTemplate = (typeof MAIL_TEMPLATES)[number];

/** Why somebody gets it, strongest first. Source: reference work-tracking 8.3. */
export const MAIL_REASONS = ['own_activity', 'assigned', 'review_requested', 'mentioned', 'subscribed'] as const;
export type MailReason = (typeof MAIL_REASONS)[number];

/** As it is stored in the queue: `issue_closed`. Notes are told of alike, whatever they stand on. */
export function templateOf({ noun }: Pick<NoteableKind, 'noun'>, told: MailTemplate): string {
  return told === 'note_created' ? told : `${noun}_${told}`;
}

/** Errors: a plain Error for a template that nobody makes. */
export function toldBy(kind: Pick<NoteableKind, 'noun'>, template: string): MailTemplate {
  const told = MAIL_TEMPLATES.find((one) => templateOf(kind, one) === template);
  if (!told) throw new Error(`${template} is no template`);
  return told;
}

/** As an e-mail of several stands in the queue: `issue_gathered`. */
export function gatheredOf({ noun }: Pick<NoteableKind, 'noun'>): string {
  return `${noun}_gathered`;
}

/** Whether a row of the queue is an e-mail of several: of rows that it gathered, or of several notes by itself. */
export function isOfSeveral({ template, tells }: { readonly template: string; readonly tells: number }): boolean {
  return tells > 1 || template.endsWith('_gathered');
}
