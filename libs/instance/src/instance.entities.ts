import type { InstanceAnswer } from '@rookery/contracts';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** The last answer of admin, in a single row, for processes that start while admin is down. Source: ADR 0180. */
@Entity('instance_answers')
@Check('ck_instance_answers_id', 'id = 1')
class KeptInstanceAnswer {
  @PrimaryColumn({ type: 'integer', primaryKeyConstraintName: 'pk_instance_answers' }) id: number;
  @Column({ type: 'bigint' }) version: number;
  @Column({ type: 'jsonb' }) answer: InstanceAnswer;
}

/** Tables of the instance library, for the comparison with the migrated schema. */
export const instanceEntities = [KeptInstanceAnswer];
