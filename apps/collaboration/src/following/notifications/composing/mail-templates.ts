import { NOTEABLE_STEPS } from '@rookery/contracts';
import type { NoteableKind } from '../../../base/noteables/noteable-kinds';
import { switchOnSql } from '../../notification-settings/effective-setting-sql';
import { SWITCH_NAMES } from '../../notification-settings/notification-switches';
import type { NotificationSwitch } from '../../notification-settings/notification-switches';

/** Kinds of messages in e-mails. Source: reference work-tracking 8.4. */
export const MAIL_TEMPLATES = [
  'created',
  'closed',
  'reopened',
  'merged',
  'approved',
  'unapproved',
  'moved',
  'cloned',
  'reassigned',
  'rereviewed',
  'relabelled',
  'milestoned',
  ...NOTEABLE_STEPS,
  'due',
  'mentioned',
  'note_created',
] as const;
export type MailTemplate = (typeof MAIL_TEMPLATES)[number];

/** Reasons for which a user gets an e-mail, strongest first. Source: reference work-tracking 8.3. */
export const MAIL_REASONS = ['own_activity', 'assigned', 'review_requested', 'mentioned', 'subscribed'] as const;
export type MailReason = (typeof MAIL_REASONS)[number];

/** Returns a template as stored in the queue: `issue_closed`. Notes have one template for all kinds of noteables. */
export function storedTemplate({ noun }: Pick<NoteableKind, 'noun'>, template: MailTemplate): string {
  return template === 'note_created' ? template : `${noun}_${template}`;
}

/** Parses a stored template. Errors: a plain Error for an unknown one. */
export function parseTemplate(kind: Pick<NoteableKind, 'noun'>, stored: string): MailTemplate {
  const template = MAIL_TEMPLATES.find((one) => storedTemplate(kind, one) === stored);
  if (!template) throw new Error(`${stored} is not a template`);
  return template;
}

/** Messages about which users are notified who watch the project or group. Source: reference work-tracking 8.4. */
const WATCHED: readonly MailTemplate[] = [
  'created',
  'closed',
  'reopened',
  'merged',
  'approved',
  'unapproved',
  'moved',
  'cloned',
  'reassigned',
  'rereviewed',
  'milestoned',
  'ready',
  'auto_merge_set',
  'threads_resolved',
  'note_created',
];
/** First words of the switches of the level `custom`, followed by the noun of the kind. */
const SWITCH_VERBS: Partial<Record<MailTemplate, string>> = {
  created: 'new',
  closed: 'close',
  reopened: 'reopen',
  merged: 'merge',
  reassigned: 'reassign',
  rereviewed: 'change_reviewer',
  pushed: 'push_to',
};
/** Switches whose names do not follow the kind. */
const SWITCHES: Partial<Record<MailTemplate, NotificationSwitch>> = {
  note_created: 'new_note',
  due: 'issue_due',
  auto_merge_set: 'merge_when_pipeline_succeeds',
};

/** Checks whether a message also reaches users who do not participate, by the level `watch` or a switch of `custom`. */
export function reachesWatchers(kind: Pick<NoteableKind, 'noun'>, template: MailTemplate): boolean {
  return WATCHED.includes(template) || findSwitch(kind, template) !== null;
}

/** Returns the switch that turns a message on; null if none does. */
export function findSwitch({ noun }: Pick<NoteableKind, 'noun'>, template: MailTemplate): NotificationSwitch | null {
  const name = SWITCHES[template] ?? `${SWITCH_VERBS[template]}_${noun}`;
  return SWITCH_NAMES.find((one) => one === name) ?? null;
}

/** Boolean SQL: whether watchers get e-mails of a template. `stored` is an SQL expression for the stored template. */
export function templateReachesWatchersSql(kind: Pick<NoteableKind, 'noun'>, stored: string): string {
  return isTemplateAmongSql(
    kind,
    stored,
    MAIL_TEMPLATES.filter((template) => reachesWatchers(kind, template)),
  );
}

/** Boolean SQL: do users who watch the place get the message? `stored` is a stored template. */
export function isWatchLevelTemplateSql(kind: Pick<NoteableKind, 'noun'>, stored: string): string {
  return isTemplateAmongSql(kind, stored, WATCHED);
}

function isTemplateAmongSql(
  kind: Pick<NoteableKind, 'noun'>,
  stored: string,
  templates: readonly MailTemplate[],
): string {
  return `${stored} in (${templates.map((template) => `'${storedTemplate(kind, template)}'`).join(', ')})`;
}

/**
 * Boolean SQL: is the switch of the message on? `stored` is an SQL expression for the stored template, `switches` a
 * jsonb expression.
 */
export function isMailTemplateSwitchOnSql(kind: Pick<NoteableKind, 'noun'>, stored: string, switches: string): string {
  const cases = MAIL_TEMPLATES.flatMap((template) => {
    const name = findSwitch(kind, template);
    return name === null ? [] : [`when '${storedTemplate(kind, template)}' then ${switchOnSql(switches, name)}`];
  });
  return `case ${stored} ${cases.join(' ')} else false end`;
}

/** Returns the stored template of a combined e-mail: `issue_gathered`. */
export function combinedMailTemplate({ noun }: Pick<NoteableKind, 'noun'>): string {
  return `${noun}_gathered`;
}

/** Whether a row of the queue is a combined e-mail: it gathered other rows, or covers several notes. */
export function isCombinedMail({ template, tells }: { readonly template: string; readonly tells: number }): boolean {
  return tells > 1 || template.endsWith('_gathered');
}
