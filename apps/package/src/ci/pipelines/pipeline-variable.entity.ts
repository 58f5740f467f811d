import { Check, Column, Entity, ForeignKey, PrimaryGeneratedColumn, Unique } from 'typeorm';
import { Pipeline } from './pipeline.entity';

export const VARIABLE_TYPES = ['env_var', 'file'] as const;
export type VariableType = (typeof VARIABLE_TYPES)[number];

/** A variable that a pipeline was started with. Source: reference identity-and-import 7.3. */
@Entity('pipeline_variables')
@Check('ck_pipeline_variables_key', 'char_length(key) <= 255')
@Check('ck_pipeline_variables_type', `variable_type in ('env_var', 'file')`)
@Unique('uq_pipeline_variables_key', ['pipelineId', 'key'])
export class PipelineVariable {
  @PrimaryGeneratedColumn('identity', {
    type: 'bigint',
    generatedIdentity: 'BY DEFAULT',
    primaryKeyConstraintName: 'pk_pipeline_variables',
  })
  id: number;
  @Column({ type: 'bigint' })
  @ForeignKey(() => Pipeline, { name: 'fk_pipeline_variables_pipeline_id', onDelete: 'CASCADE' })
  pipelineId: number;
  @Column({ type: 'text' }) key: string;
  @Column({ type: 'text' }) value: string;
  @Column({ type: 'text', default: 'env_var' }) variableType: VariableType;
}
