import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { ProjectStatisticsService } from './project-statistics';
import { ProjectFigures } from './project-statistics.entity';

/** Figures about projects that other services report: open issues, sizes. */
@Owns(ProjectFigures)
@Module({ providers: [ProjectStatisticsService], exports: [ProjectStatisticsService] })
export class StatisticsModule {}
