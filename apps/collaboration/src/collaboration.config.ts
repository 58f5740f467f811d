import { activitySettings } from './activity/activity.config';
import { mentionsSettings } from './mentions/mentions.config';
import { applicationSettings } from '@rookery/instance';
import { notesSettings } from './notes/notes.config';
import { mailerSettings } from './notifications/mailer/mailer.config';

/** What only this service reads. */
export const collaborationSettings = [
  applicationSettings,
  notesSettings,
  mentionsSettings,
  activitySettings,
  mailerSettings,
];
