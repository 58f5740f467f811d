import { Module } from '@nestjs/common';
import { droppedWithProjects } from '@rookery/directory';
import { protectionRules, ProtectionRulesController } from './protection-rules.controller';

/** Who may push or delete packages of which names, project by project. */
@Module({
  controllers: [ProtectionRulesController, droppedWithProjects(protectionRules, 'drop-protection-rules')],
})
export class ProtectionRulesModule {}
