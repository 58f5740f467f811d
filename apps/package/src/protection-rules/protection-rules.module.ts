import { Module } from '@nestjs/common';
import { droppedWithProjects } from '@rookery/directory';
import { Owns } from '@rookery/persistence';
import { ProtectionRule } from './protection-rule.entity';
import { protectionRules, ProtectionRulesController } from './protection-rules.controller';

/** Rules of projects for pushing and deleting packages, by name. */
@Owns(ProtectionRule)
@Module({
  controllers: [ProtectionRulesController, droppedWithProjects(protectionRules, 'drop-protection-rules')],
})
export class ProtectionRulesModule {}
