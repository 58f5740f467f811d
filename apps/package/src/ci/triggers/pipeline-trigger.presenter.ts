import { instant, int, nested, nullable, presenter, text } from '@rookery/api-v4';
import { Directory, userSummary } from '@rookery/directory';
import type { PipelineTrigger } from './pipeline-trigger.entity';
import { TriggerSecrets } from './trigger-secrets';

/** Source: requirements 2 §2 Trigger token; reference identity-and-import 7.1. */
export const pipelineTriggerPresenter = presenter<PipelineTrigger>('PipelineTrigger')
  .load(async (triggers, ctx) => ({
    owners: await ctx.get(Directory).findUsers(triggers.map(({ ownerId }) => ownerId)),
    secrets: ctx.get(TriggerSecrets),
  }))
  .fields({
    id: [int, (trigger) => trigger.id],
    token: [
      text,
      (trigger, { secrets }, { viewer }) =>
        (trigger.ownerId === viewer.userId ? secrets.openToken(trigger) : null) ?? trigger.tokenStart,
      { about: 'The whole token for its owner; its first four characters after the prefix for others.' },
    ],
    description: [text, (trigger) => trigger.description],
    created_at: [instant, (trigger) => trigger.createdAt],
    updated_at: [instant, (trigger) => trigger.updatedAt],
    last_used: [nullable(instant), (trigger) => trigger.lastUsed, { about: 'When the token last started a pipeline.' }],
    expires_at: [nullable(instant), (trigger) => trigger.expiresAt],
    owner: [
      nullable(nested(userSummary)),
      (trigger, { owners }) => owners.get(trigger.ownerId) ?? null,
      { about: 'The user who created the token, and as whom it starts pipelines; null for a deleted user.' },
    ],
  });
