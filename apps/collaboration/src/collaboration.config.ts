import { activitySettings } from './following/activity/activity.config';
import { mentionsSettings } from './talk/mentions/mentions.config';
import { applicationSettings } from '@rookery/instance';
import { notesSettings } from './talk/notes/notes.config';
import { mailerSettings } from './following/notifications/mailer/mailer.config';

/** What only this service reads. */
export const collaborationSettings = [
  applicationSettings,
  notesSettings,
  mentionsSettings,
  activitySettings,
  mailerSettings,
];
