import { Module } from '@nestjs/common';
import { PlanLimitsController } from './plan-limits.controller';
import { PlanLimitsService } from './plan-limits.service';

/** What the plans of groups allow, as far as administrators may change it. */
@Module({ controllers: [PlanLimitsController], providers: [PlanLimitsService] })
export class PlanLimitsModule {}
