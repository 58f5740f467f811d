import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { CustomAttribute } from './custom-attribute.entity';
import {
  GroupCustomAttributesController,
  ProjectCustomAttributesController,
  UserCustomAttributesController,
} from './custom-attributes.controller';
import { CustomAttributesService } from './custom-attributes.service';

/** Texts by key that administrators attach to users, groups and projects. */
@Owns(CustomAttribute)
@Module({
  controllers: [UserCustomAttributesController, GroupCustomAttributesController, ProjectCustomAttributesController],
  providers: [CustomAttributesService],
})
export class CustomAttributesModule {}
