import { Module } from '@nestjs/common';
import { droppedWithProjects } from '@rookery/directory';
import { Owns } from '@rookery/persistence';
import { ProtectionRule } from './protection-rule.entity';
import { protectionRules, ProtectionRulesController } from './protection-rules.controller';

/** Who may push or delete packages of which names, project by project. */
@Owns(ProtectionRule)
@Module({
  controllers: [ProtectionRulesController, droppedWithProjects(protectionRules, 'drop-protection-rules')],
})
export class ProtectionRulesModule {}
