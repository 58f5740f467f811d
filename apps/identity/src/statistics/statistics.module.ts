import { Module } from '@nestjs/common';
import { ProjectStatistics } from './project-statistics';

/** Numbers that other services report of projects: open issues, sizes. */
@Module({ providers: [ProjectStatistics], exports: [ProjectStatistics] })
export class StatisticsModule {}
