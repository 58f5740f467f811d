import { activitySettings } from './activity/activity.config';
import { mentionsSettings } from './mentions/mentions.config';
import { notesSettings } from './notes/notes.config';
import { mailerSettings } from './notifications/mailer/mailer.config';

/** What only this service reads. */
export const collaborationSettings = [notesSettings, mentionsSettings, activitySettings, mailerSettings];
