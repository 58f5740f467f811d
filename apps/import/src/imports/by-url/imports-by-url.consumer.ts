import { Controller } from '@nestjs/common';
import { projectCreated } from '@rookery/contracts';
import { Consume } from '@rookery/messaging';
import type { EffectBatch } from '@rookery/messaging';
import { ImportRecords } from '../import-records';

/** Starts prepared imports when their projects exist. */
@Controller()
export class ImportsByUrlConsumer {
  constructor(private readonly records: ImportRecords) {}

  @Consume(projectCreated, { effect: 'start-imports-by-url' })
  async projectCreated({ tx, events }: EffectBatch<typeof projectCreated>): Promise<void> {
    for (const { data } of events) {
      if (data.import_key !== undefined) await this.records.scheduleByKey(tx, data.import_key, data.project_id);
    }
  }
}
