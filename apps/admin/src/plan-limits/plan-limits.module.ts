import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { InstanceConfigModule } from '../instance/instance.module';
import { PlanLimit } from './plan-limit.entity';
import { PlanLimitsController } from './plan-limits.controller';
import { PlanLimitsService } from './plan-limits.service';

/** Limits of plans that administrators may change. */
@Owns(PlanLimit)
@Module({ imports: [InstanceConfigModule], controllers: [PlanLimitsController], providers: [PlanLimitsService] })
export class PlanLimitsModule {}
