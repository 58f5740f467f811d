import { Controller, Inject } from '@nestjs/common';
import { pipelineFinished } from '@rookery/contracts';
import type { PayloadOf } from '@rookery/contracts';
import { Directory } from '@rookery/directory';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { activeTraceparent, statement } from '@rookery/persistence';
import { Mailer } from '../mailer/mailer';
import { mailerSettings } from '../mailer/mailer.config';
import type { MailerSettings } from '../mailer/mailer.config';
import type { PipelineMailTemplate } from './compose-pipeline-mail';
import { wantedPipelineMailsSql } from './pipeline-recipient-sql';

interface PipelineNotice {
  readonly event: string;
  readonly recipient: number;
  readonly template: PipelineMailTemplate;
  readonly project: number;
  readonly pipeline: number;
  readonly iid: number;
  readonly ref: string;
  readonly isTag: boolean;
  readonly sha: string;
  readonly traceparent: string | null;
}
/** Queues an e-mail once if its recipient may get it and wants it. */
const insertPipelineMail = statement<PipelineNotice, { readonly queued: number }>(
  'pipeline_mails_queue',
  `insert into pipeline_mails (source_event_id, recipient_id, template, project_id, pipeline_id, pipeline_iid, ref, is_tag,
     sha, traceparent)
   select i.source_event_id, i.recipient_id, i.template, i.project_id, i.pipeline_id, i.pipeline_iid, i.ref, i.is_tag, i.sha,
     :traceparent::text
   ${wantedPipelineMailsSql(`(select :event::uuid as source_event_id, :recipient::bigint as recipient_id,
     :template::text as template, :project::bigint as project_id, :pipeline::bigint as pipeline_id,
     :iid::bigint as pipeline_iid, :ref::text as ref, :isTag::boolean as is_tag, :sha::text as sha offset 0) i`)}
   on conflict do nothing returning 1 as queued`,
);

/** Queues e-mails about finished pipelines for the users as whom they run. Source: reference work-tracking 8.4. */
@Controller()
export class PipelineMailsConsumer {
  constructor(
    private readonly mailer: Mailer,
    private readonly directory: Directory,
    @Inject(mailerSettings.token) private readonly settings: MailerSettings,
  ) {}

  @Consume(pipelineFinished, { effect: 'queue-pipeline-mails' })
  async finished({ tx, events }: EffectBatch<typeof pipelineFinished>): Promise<void> {
    if (!this.settings.isEnabled) return;
    await this.directory.assertCurrentFor(tx, events);
    let count = 0;
    for (const { id: event, data } of events) {
      const template = chooseTemplate(data);
      if (template === null || data.user_id === null) continue;
      const queued = await tx.run(insertPipelineMail, {
        ...{ event, recipient: data.user_id, template, project: data.project_id },
        ...{ pipeline: data.pipeline_id, iid: data.iid, ref: data.ref, isTag: data.is_tag, sha: data.sha },
        traceparent: activeTraceparent(),
      });
      count += queued.length;
    }
    if (count > 0) tx.afterCommit(() => this.mailer.nudge());
  }
}

/** The first success after a failure is a fix. Returns null for canceled and skipped pipelines. */
function chooseTemplate(data: PayloadOf<typeof pipelineFinished>): PipelineMailTemplate | null {
  if (data.status === 'failed') return 'failed_pipeline';
  if (data.status !== 'success') return null;
  return data.previous_status === 'failed' ? 'fixed_pipeline' : 'success_pipeline';
}
