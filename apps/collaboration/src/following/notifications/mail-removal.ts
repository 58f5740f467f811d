import { attachedTo } from '@rookery/persistence';

const sent = 'the mailer drops a waiting e-mail about what is deleted, and `drop-old-mails` removes the row';

/** Removal of participants, e-mails and their settings. */
export const attachedParticipants = attachedTo({
  table: 'participants',
  key: 'ctid',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { note_id: 'the effect `drop-participants` of `note.deleted` removes authors of deleted notes' },
});
export const attachedMails = attachedTo({
  table: 'mails',
  users: [
    { column: 'recipient_id', onRemoval: 'delete' },
    {
      column: 'actor_id',
      onRemoval: 'ghost',
      // Only an e-mail that waits names its actor to anybody, alone or in an e-mail of several.
      where: `state in ('queued', 'gathered')`,
      because: 'with hard_delete the mailer drops the e-mail: the note or noteable is deleted',
    },
  ],
  stays: { noteable_id: sent, project_id: sent, note_id: sent, note_ids: sent },
});
export const attachedAccountMails = attachedTo({
  table: 'account_mails',
  users: [{ column: 'recipient_id', onRemoval: 'delete' }],
  stays: { subject_id: 'identity is asked about it when the e-mail is sent; `drop-old-mails` removes the row' },
});
export const attachedNotificationSettings = attachedTo({
  table: 'notification_settings',
  key: 'ctid',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { source_id: 'the setting of a deleted project or group has no effect' },
});
export const attachedMailAllowances = attachedTo({
  table: 'mail_allowances',
  key: 'recipient_id',
  users: [{ column: 'recipient_id', onRemoval: 'delete' }],
});
