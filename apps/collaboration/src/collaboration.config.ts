import { activitySettings } from './following/activity/activity.config';
import { mentionsSettings } from './talk/mentions/mentions.config';
import { filesSettings } from './code/files/files.config';
import { gitSettings } from '@rookery/git';
import { applicationSettings } from '@rookery/instance';
import { notesSettings } from './talk/notes/notes.config';
import { mailerSettings } from './following/notifications/mailer/mailer.config';

/** Settings that only this service reads. */
export const collaborationSettings = [
  applicationSettings,
  gitSettings,
  filesSettings,
  notesSettings,
  mentionsSettings,
  activitySettings,
  mailerSettings,
];
