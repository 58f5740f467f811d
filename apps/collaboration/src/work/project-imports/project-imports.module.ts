import { Module } from '@nestjs/common';
import { ImportedObjectsModule } from '../../base/imported-objects/imported-objects.module';
import { IssuesModule } from '../issues/issues.module';
import { ProjectImportsController } from './project-imports.controller';
import { ProjectImportsService } from './project-imports.service';

/** Objects that imports bring into projects. */
@Module({
  imports: [ImportedObjectsModule, IssuesModule],
  controllers: [ProjectImportsController],
  providers: [ProjectImportsService],
})
export class ProjectImportsModule {}
