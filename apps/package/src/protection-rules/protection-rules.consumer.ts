import { Controller } from '@nestjs/common';
import { projectDeleted } from '@rookery/contracts';
import type { EffectBatch } from '@rookery/messaging';
import { Consume } from '@rookery/messaging';

/** A project that is gone takes its rules along. */
@Controller()
export class ProtectionRulesConsumer {
  @Consume(projectDeleted, { effect: 'drop-protection-rules' })
  async drop({ tx, events }: EffectBatch<typeof projectDeleted>): Promise<void> {
    const projects = events.map((event) => event.data.project_id);
    await tx.query('delete from protection_rules where project_id = any($1)', [projects]);
  }
}
