import type { InstanceAnswer } from '@rookery/contracts';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The one row with what admin said last, for processes that start while it is away. Source: ADR 0180. */
@Entity('instance_answers')
@Check('ck_instance_answers_id', 'id = 1')
export class KeptAnswer {
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_instance_answers' }) id: number;
  @Column({ type: 'bigint' }) version: number;
  @Column({ type: 'jsonb' }) answer: InstanceAnswer;
}

/** What the copy keeps in the database of a service, for the comparison with the migrated schema. */
export const instanceEntities = [KeptAnswer];
