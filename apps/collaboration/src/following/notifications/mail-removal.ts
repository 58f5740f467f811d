import { declareAttachedTable } from '@rookery/persistence';

const keptUntilOld = 'the mailer drops a waiting e-mail about what is deleted, and `drop-old-mails` removes the row';

/** Removal of participants and e-mails. */
export const attachedParticipants = declareAttachedTable({
  table: 'participants',
  key: 'ctid',
  noteable: { type: 'noteable_type', id: 'noteable_id' },
  project: 'project_id',
  users: [{ column: 'user_id', onRemoval: 'delete' }],
  stays: { note_id: 'the effect `drop-participants` of `note.deleted` removes authors of deleted notes' },
});
export const attachedMails = declareAttachedTable({
  table: 'mails',
  users: [
    { column: 'recipient_id', onRemoval: 'delete' },
    {
      column: 'actor_id',
      onRemoval: 'ghost',
      // Only a waiting e-mail, alone or part of a combined one, will still show its actor.
      where: `state in ('queued', 'gathered')`,
      because: 'with hard_delete the mailer drops the e-mail: the note or noteable is deleted',
    },
  ],
  stays: { noteable_id: keptUntilOld, project_id: keptUntilOld, note_id: keptUntilOld, note_ids: keptUntilOld },
});
export const attachedAccountMails = declareAttachedTable({
  table: 'account_mails',
  users: [{ column: 'recipient_id', onRemoval: 'delete' }],
  stays: { subject_id: 'identity is asked about it when the e-mail is sent; `drop-old-mails` removes the row' },
});
export const attachedPipelineMails = declareAttachedTable({
  table: 'pipeline_mails',
  users: [{ column: 'recipient_id', onRemoval: 'delete' }],
  stays: { project_id: keptUntilOld, pipeline_id: keptUntilOld },
});
export const attachedPlaceMails = declareAttachedTable({
  table: 'place_mails',
  users: [
    { column: 'recipient_id', onRemoval: 'delete' },
    {
      column: 'actor_id',
      onRemoval: 'ghost',
      where: `state = 'queued'`,
      because:
        'with hard_delete the e-mail shows the ghost too: it is about the recipient and not about a text of the actor',
    },
  ],
  stays: {
    ...{ project_id: keptUntilOld, group_id: keptUntilOld, subject_id: keptUntilOld },
    responsible_id: 'it is counted for an hour and never shown; `drop-old-mails` removes the row',
  },
});
export const attachedPlaceMailFanOuts = declareAttachedTable({
  table: 'place_mail_fan_outs',
  users: [{ column: 'actor_id', onRemoval: 'ghost', because: 'the job removes the row' }],
  stays: {
    project_id: 'the job finds no recipients and removes the row',
    subject_id: 'the job finds no recipients and removes the row',
    after_user_id: 'a position in the order of users; the job removes the row',
    responsible_id: 'it is counted and never shown; the job removes the row',
  },
});
export const attachedMailAllowances = declareAttachedTable({
  table: 'mail_allowances',
  key: 'recipient_id',
  users: [{ column: 'recipient_id', onRemoval: 'delete' }],
});
export const attachedMailFanOuts = declareAttachedTable({
  table: 'mail_fan_outs',
  stays: { after_user_id: 'a position in the order of users; the job removes the row' },
});
